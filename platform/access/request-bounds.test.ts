import {
  create,
  type DescField,
  type DescMessage,
  type DescMethod,
  type Message,
  ScalarType,
  toJson,
} from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { definedServices } from '../../test/harness/defined-services.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';
import { boundedByIngest, boundOf, checkBounds, unusualBounds } from './request-bounds.ts';

const methods = (await definedServices()).flatMap((service) => service.methods);
const bounded = methods.filter(({ input }) => !boundedByIngest.has(input.typeName));

/** A text, bytes field, list or map that a request holds, at any depth. */
interface BoundedField {
  path: string;
  field: DescField;
  /** An entry of a map, not the map. */
  isItem?: boolean;
  /** The request with a value of this size there, and nothing else. */
  requestWith(size: number): Message;
}

function fieldsOf(desc: DescMessage, within: readonly DescMessage[] = []): BoundedField[] {
  if (within.includes(desc)) throw new Error(`${desc.typeName} contains itself: bound its depth`);
  return desc.fields.flatMap((field) => {
    const name = field.jsonName;
    const one = (path: string, value: (size: number) => unknown): BoundedField => ({
      path,
      field,
      requestWith: (size) => create(desc, holding(field, value(size))),
    });
    const inside = (path: string, inner: DescMessage, wrap: (one: Message) => unknown) =>
      fieldsOf(inner, [...within, desc]).map(
        (found): BoundedField => ({
          path: `${path}.${found.path}`,
          ...{ field: found.field, isItem: found.isItem ?? false },
          requestWith: (size) => create(desc, holding(field, wrap(found.requestWith(size)))),
        }),
      );
    switch (field.fieldKind) {
      case 'scalar':
        return lengthOf(field.scalar) === undefined ? [] : [one(name, textOr(field.scalar))];
      case 'enum':
        return [];
      case 'message':
        return inside(name, field.message, (message) => message);
      case 'list': {
        const list = one(name, (size) => Array.from({ length: size }, () => itemOf(field)));
        if (field.listKind === 'message') {
          return [list, ...inside(`${name}[0]`, field.message, (message) => [message])];
        }
        if (field.listKind === 'enum' || lengthOf(field.scalar) === undefined) return [list];
        const text = textOr(field.scalar);
        return [list, one(`${name}[0]`, (size) => [text(size)])];
      }
      case 'map': {
        if (field.mapKind !== 'scalar' || lengthOf(field.scalar) !== 'text') {
          throw new Error(`${field.parent.typeName}.${name}: teach this test of other maps`);
        }
        const entries = one(name, (size) =>
          Object.fromEntries(Array.from({ length: size }, (_, index) => [`key ${index}`, 'x'])),
        );
        const value = one(name, (size) => ({ key: 'x'.repeat(size) }));
        return [entries, { ...value, isItem: true }];
      }
      default:
        return field satisfies never;
    }
  });
}

function lengthOf(scalar: ScalarType): 'text' | 'bytes' | undefined {
  if (scalar === ScalarType.STRING) return 'text';
  return scalar === ScalarType.BYTES ? 'bytes' : undefined;
}

const textOr = (scalar: ScalarType) => (size: number) =>
  lengthOf(scalar) === 'text' ? 'x'.repeat(size) : new Uint8Array(size);

function itemOf(field: DescField & { fieldKind: 'list' }): unknown {
  if (field.listKind === 'message') return create(field.message);
  return field.listKind === 'scalar' && field.scalar === ScalarType.STRING ? 'x' : 0;
}

function holding({ oneof, localName }: DescField, value: unknown): Record<string, unknown> {
  if (oneof === undefined) return { [localName]: value };
  return { [oneof.localName]: { case: localName, value } };
}

function boundFor({ path, field, isItem = false }: BoundedField): number {
  const { maxItems, maxLength } = boundOf(field);
  if (field.fieldKind === 'map') return isItem ? maxLength : maxItems;
  return field.fieldKind === 'list' && !path.endsWith(']') ? maxItems : maxLength;
}

describe('the bounds of requests', () => {
  it('hold for every text and list of every request of every service', () => {
    let fields = 0;
    for (const { input } of bounded) {
      for (const one of fieldsOf(input)) {
        fields++;
        const bound = boundFor(one);
        const name = `${input.typeName}: ${one.path}`;
        expect(() => checkBounds(input, one.requestWith(bound)), name).not.toThrow();
        const tooLarge = () => checkBounds(input, one.requestWith(bound + 1));
        expect(tooLarge, name).toThrow(`${one.path}: takes at most ${bound}`);
      }
    }
    expect(fields).toBeGreaterThan(60);
  });

  it('bound everything that is not listed as the work of another check, and list nothing else', () => {
    const inputs = new Map(methods.map(({ input, parent }) => [input.typeName, parent.typeName]));
    for (const name of boundedByIngest) {
      expect([
        'sdk.events.v1.EventsService',
        'events.v1.EventsService',
        'sdk.profiles.v1.ProfilesSDKService',
      ]).toContain(inputs.get(name));
    }
    const fields = bounded.flatMap(({ input }) => fieldsOf(input).map(({ field }) => field));
    const names = new Set(fields.map(({ parent, name }) => `${parent.typeName}.${name}`));
    for (const name of unusualBounds.keys()) expect(names).toContain(name);
  });

  it('end a message that contains itself', async () => {
    const { ListValueSchema, ValueSchema } = await import('@bufbuild/protobuf/wkt');
    let value = create(ValueSchema, { kind: { case: 'numberValue', value: 1 } });
    for (let depth = 0; depth < 20; depth++) {
      const listValue = create(ListValueSchema, { values: [value] });
      value = create(ValueSchema, { kind: { case: 'listValue', value: listValue } });
    }
    expect(() => checkBounds(ValueSchema, value)).toThrow('is deeper than 8 messages');
  });
});

describe('over the port', () => {
  const broker = useBroker();
  let accounts: AccountsProcess;
  let headers: Record<string, string>;
  let orgId: string;

  beforeAll(async () => {
    accounts = await startAccounts({ brokerUrl: broker.url });
    const customer = await newCustomer(accounts);
    orgId = customer.orgId;
    headers = bearer(customer, customer.projectId);
  });

  afterAll(() => accounts.close());

  /** The body of a request with a field that is one unit too long, and all that is asked before. */
  function tooLong({ input }: DescMethod): { path: string; body: object } | undefined {
    const namesOrganization = input.fields.some(({ name }) => name === 'org_id');
    const open = fieldsOf(input).find(({ path }) => path !== 'orgId' && path !== 'id');
    const one = open ?? (namesOrganization ? undefined : fieldsOf(input)[0]);
    if (one === undefined) return undefined;
    const message = one.requestWith(boundFor(one) + 1);
    if (namesOrganization) {
      const field = input.field['orgId'];
      if (field !== undefined) reflect(input, message).set(field, orgId);
    }
    return { path: one.path, body: { ...Object(toJson(input, message)) } };
  }

  it.each(bounded.map((method) => [`${method.parent.typeName}/${method.name}`, method] as const))(
    '%s refuses',
    async (name, method) => {
      const request = tooLong(method);
      if (request === undefined) return;
      const isStream = method.methodKind === 'server_streaming';
      const json = JSON.stringify(request.body);
      const response = await fetch(`${accounts.baseUrl}/${name}`, {
        method: 'POST',
        headers: {
          ...(name.startsWith('public.') ? {} : headers),
          'content-type': isStream ? 'application/connect+json' : 'application/json',
        },
        body: isStream ? enveloped(json) : json,
      });
      const text = await response.text();
      // Access is asked before the bounds, and this customer is no super admin.
      if (name.startsWith('dashboard.operator.')) {
        expect(text).toContain('"code":"permission_denied"');
        return;
      }
      expect(text).toContain('"code":"invalid_argument"');
      expect(text).toContain(`${request.path}: takes at most`);
    },
  );

  it('is asked after access: a stranger learns nothing of an organization', async () => {
    const stranger = await newCustomer(accounts);
    const request = { orgId, email: 'x'.repeat(2_000) };
    await expect(accounts.as(bearer(stranger)).orgs.inviteMember(request)).rejects.toMatchObject({
      code: Code.NotFound,
    });
  });
});

function enveloped(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  const body = new Uint8Array(5 + bytes.length);
  new DataView(body.buffer).setUint32(1, bytes.length);
  body.set(bytes, 5);
  return body;
}
