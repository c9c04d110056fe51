// Calls the management interface of webhooks over HTTP, and holds every answer against the published document: its
// status must be there, its body must be what the schema says, with no field that the schema does not name.

import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseUrl } from '../../../platform/http/parse-url.ts';
import { isObject, type JsonObject } from '../../../platform/json.ts';

export interface ManagementAnswer {
  status: number;
  headers: Headers;
  /** Undefined for an answer without a body. */
  json: JsonObject | undefined;
  /** The text at a path of members, such as `webhook.id`; throws where there is none. */
  text(path: string): string;
}

interface Sent {
  authorization?: string;
  /** An object is sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface ManagementClient {
  call(method: string, path: string, sent?: Sent): Promise<ManagementAnswer>;
  /** `name status` of every answer so far. */
  readonly seen: ReadonlySet<string>;
  /** The same of the document. */
  readonly documented: ReadonlySet<string>;
  /** Fields of successful answers that the document names and no answer has had. */
  unseenFields(): string[];
}

interface Method {
  name: string;
  method: string;
  pattern: RegExp;
  responses: JsonObject;
  pointer: string;
}

export async function managementClient(baseUrl: string): Promise<ManagementClient> {
  const document: unknown = await (await fetch(`${baseUrl}/openapi.json`)).json();
  if (!isObject(document)) throw new Error('/openapi.json is no object');
  const methods = methodsOf(document);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat('uri', (text) => parseUrl(text) !== undefined);
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  ajv.addSchema(closed(document), 'document');
  const seen = new Set<string>();
  const seenFields = new Set<string>();
  return {
    seen,
    documented: new Set(
      methods.flatMap(({ name, responses }) =>
        Object.keys(responses).map((status) => `${name} ${status}`),
      ),
    ),
    unseenFields: () => fieldsOf(document, methods).filter((field) => !seenFields.has(field)),
    async call(method, path, sent = {}) {
      const response = await fetch(`${baseUrl}${path}`, requestOf(method, sent));
      const text = await response.text();
      const json: unknown = text === '' ? undefined : JSON.parse(text);
      const { status, headers } = response;
      const found = methods.find(
        (one) => one.method === method && one.pattern.test(path.replace(/\?.*/s, '')),
      );
      if (found !== undefined) {
        seen.add(`${found.name} ${status}`);
        checkAnswer(ajv, found, status, json);
        if (status < 300) addFields(seenFields, found.name, json);
      }
      const body = isObject(json) ? json : undefined;
      return { status, headers, json: body, text: (at) => textAt(body, at) };
    },
  };
}

function requestOf(method: string, { authorization, body, headers }: Sent): RequestInit {
  return {
    method,
    redirect: 'manual',
    headers: {
      ...(authorization !== undefined && { authorization: `Bearer ${authorization}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
}

function methodsOf(document: JsonObject): Method[] {
  return membersOf(document['paths']).flatMap(([path, item]) =>
    membersOf(item).map(([method, operation]) => ({
      name: String(memberOf(operation, 'operationId')),
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      responses: Object.fromEntries(membersOf(memberOf(operation, 'responses'))),
      pointer: `document#/paths/${escaped(path)}/${method}/responses`,
    })),
  );
}

const schemaPath = `content/${escaped('application/json')}/schema`;

function checkAnswer(ajv: Ajv2020, method: Method, status: number, json: unknown): void {
  const place = `${method.name} ${status}`;
  const response = method.responses[status];
  if (response === undefined) {
    throw new Error(`${place} is not in the document: ${JSON.stringify(json)}`);
  }
  if (memberOf(response, 'content') === undefined) {
    if (json !== undefined) throw new Error(`${place} has a body that the document does not name`);
    return;
  }
  const isValid = ajv.validate({ $ref: `${method.pointer}/${status}/${schemaPath}` }, json);
  if (!isValid) throw new Error(`${place}: ${ajv.errorsText()}: ${JSON.stringify(json)}`);
}

/** The same schemas, in which no object may have a member that is not named. */
function closed(value: unknown): object {
  const text = JSON.stringify(value, (_, member: unknown) =>
    isObject(member) && member['type'] === 'object' && 'properties' in member
      ? { ...member, additionalProperties: false }
      : member,
  );
  return JSON.parse(text);
}

/** `name: path` of every member of successful answers. */
function fieldsOf(document: JsonObject, methods: readonly Method[]): string[] {
  const fields: string[] = [];
  const add = (schema: unknown, path: string): void => {
    const target = memberOf(schema, '$ref');
    if (typeof target === 'string') {
      const name = target.slice(target.lastIndexOf('/') + 1);
      add(memberOf(memberOf(document['components'], 'schemas'), name), path);
      return;
    }
    if (memberOf(schema, 'items') !== undefined) add(memberOf(schema, 'items'), path);
    for (const [name, member] of membersOf(memberOf(schema, 'properties'))) {
      fields.push(`${path}.${name}`);
      add(member, `${path}.${name}`);
    }
  };
  for (const { name, responses } of methods) {
    for (const [status, response] of Object.entries(responses)) {
      if (Number(status) >= 300) continue;
      const json = memberOf(memberOf(response, 'content'), 'application/json');
      add(memberOf(json, 'schema'), name);
    }
  }
  return fields;
}

function addFields(fields: Set<string>, path: string, json: unknown): void {
  if (Array.isArray(json)) for (const item of json) addFields(fields, path, item);
  for (const [name, member] of membersOf(json)) {
    fields.add(`${path}.${name}`);
    addFields(fields, `${path}.${name}`, member);
  }
}

function textAt(json: unknown, path: string): string {
  const value = path.split('.').reduce(memberOf, json);
  if (typeof value !== 'string') throw new Error(`${path} is no text in ${JSON.stringify(json)}`);
  return value;
}

function membersOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** A name in a JSON pointer in a URI. */
function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}
