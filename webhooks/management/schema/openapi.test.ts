// The published document against the handlers: each method is called until every status that the document names for it
// has come, and the client holds every answer against the document's schemas. So neither can have what the other lacks.

import { randomUUID } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BucketFull } from '../../../platform/broker/record-bucket.ts';
import { isObject } from '../../../platform/json.ts';
import { Contended } from '../../../platform/records/change-record.ts';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import { bearer } from '../../../test/harness/services/accounts.ts';
import {
  content,
  type Management,
  type ManagementAdmin,
  newManagementAdmin,
  projectSubscription,
  startManagement,
  subscription,
} from '../../../test/harness/webhooks/management.ts';
import { operations } from '../operations.ts';

const broker = useBroker();
let management: Management;
let admin: ManagementAdmin;
let webhookId: string;

const day = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
/** A good body of each method that has one. */
const bodies: Readonly<Record<string, object>> = {
  createWebhook: { content },
  updateWebhook: { content: { description: 'a' } },
  recoverDeliveries: day,
  sendTest: { event_type: 'message_sent' },
};

interface Changes {
  token?: string;
  orgId?: string;
  body?: unknown;
  query?: string;
  headers?: Record<string, string>;
}

function call({ name, method, path }: (typeof operations)[number], changes: Changes = {}) {
  const { token, orgId = admin.orgId, body = bodies[name], query = '', headers = {} } = changes;
  const filled = path
    .replace('{organization_id}', orgId)
    .replace('{webhook_id}', webhookId)
    .replace('{delivery_id}', 'd');
  return management.call(method, `${filled}${query}`, {
    ...(token !== undefined && { authorization: token }),
    body,
    headers,
  });
}

/** Subscriptions with every field that one can have. */
function everyFilter(): object[] {
  const one = { property: '$country', operator: 'FILTER_OPERATOR_EQUALS', value: 'DE' };
  const several = { property: 'plan', operator: 'FILTER_OPERATOR_IN', values: ['pro'] };
  const properties = [{ ...one, source: 'PROPERTY_SOURCE_AUTO' }, several];
  return [
    { ...subscription, filter: { room_type: 'chat' } },
    { ...projectSubscription(admin.projectId), filter: { kinds: ['purchase'], properties } },
  ];
}

/** Each method, in an order in which the webhook is deleted last. */
const methods = operations.toSorted(
  (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
);
const closed = methods.filter(({ role }) => role !== undefined);
const named = (...names: string[]) => closed.filter(({ name }) => names.includes(name));
const changing = named('createWebhook', 'updateWebhook', 'deleteWebhook', 'rotateSecret');
const reading = named('listLogs', 'redeliver', 'recoverDeliveries');

beforeAll(async () => {
  // Whatever was used up stays so.
  const nowMs = Date.UTC(2026, 0, 31);
  management = await startManagement(broker.url, { nowMs: () => nowMs });
  admin = await newManagementAdmin(management);
  webhookId = (await admin.create({ subscriptions: everyFilter() })).text('webhook.id');
  management.log.deliveries = [
    {
      deliveryId: 'd',
      projectId: 'p',
      eventId: 'e',
      eventType: 'message_sent',
      firstTimeMs: Date.parse(day.from),
      payload: '{}',
    },
  ];
});

afterAll(() => management.accounts.close());

it('every refusal of a caller is documented', async () => {
  const stranger = await newManagementAdmin(management);
  const { orgs } = management.accounts.as(bearer({ accessToken: admin.token }));
  const { key } = await orgs.createOrgKey({ orgId: admin.orgId, role: 1 });
  const { control } = management.accounts;
  const unproven = await newManagementAdmin(management);
  const { customer } = await management.accounts
    .as(bearer({ accessToken: unproven.token }))
    .customers.get({});
  await control.customers.change(customer?.id ?? '', (record) => {
    return { ...record, emailVerified: false };
  });
  const withoutFactor = await newManagementAdmin(management);
  const asking = control.organizations.get(withoutFactor.orgId);
  if (asking === undefined) throw new Error('no organization');
  const asks = { ...asking.record, requiresSecondFactor: true as const };
  await control.organizations.update(withoutFactor.orgId, asks, asking.revision);
  for (const method of closed) {
    expect((await call(method)).status).toBe(401);
    const { token, orgId } = withoutFactor;
    expect((await call(method, { token, orgId })).status).toBe(403);
    expect((await call(method, { token: stranger.token })).status).toBe(404);
    if (method.role !== 'viewer') expect((await call(method, { token: key })).status).toBe(403);
    if (method.needsProof === true) {
      const answer = await call(method, { token: unproven.token, orgId: unproven.orgId });
      expect(answer.status).toBe(400);
    }
  }
});

it('every refusal of a request is documented', async () => {
  const { token } = admin;
  for (const method of methods) {
    if (method.body !== undefined) {
      expect((await call(method, { token, body: [] })).status).toBe(400);
      const headers = { 'content-type': 'application/xml' };
      expect((await call(method, { token, headers })).status).toBe(415);
    } else {
      expect((await call(method, { token, query: `?x=${randomUUID()}` })).status).toBe(400);
    }
  }
});

it('every failure behind a method is documented', async () => {
  const { token } = admin;
  const { faults } = management;
  for (const method of closed) {
    faults.error = new Error('a fault');
    expect((await call(method, { token })).status).toBe(500);
    faults.error = new ConnectError('away', Code.Unavailable);
    const away = await call(method, { token });
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1']);
  }
  for (const method of changing) {
    faults.error = new Contended();
    expect((await call(method, { token })).status).toBe(409);
    faults.error = new BucketFull();
    // Deleting makes no record longer; a full broker may refuse it even so.
    if (method.rate === 'change') expect((await call(method, { token })).status).toBe(429);
  }
  faults.error = undefined;
  management.log.fault = new ConnectError('too slow', Code.DeadlineExceeded);
  for (const method of reading) {
    expect((await call(method, { token })).status).toBe(504);
  }
  management.log.fault = undefined;
});

it('every method is limited but those that only take away', async () => {
  const busy = await newManagementAdmin(management);
  const { token, orgId } = busy;
  for (const rate of ['change', 'read'] as const) {
    const limited = closed.filter((method) => method.rate === rate);
    const [first] = limited;
    if (first === undefined) throw new Error(`no method is limited as ${rate}`);
    let status = 0;
    for (let calls = 0; calls < 200 && status !== 429; calls++) {
      status = (await call(first, { token, orgId })).status;
    }
    for (const method of limited) {
      const answer = await call(method, { token, orgId });
      expect(answer.status).toBe(429);
      expect(answer.headers.get('retry-after')).toBe('1');
    }
  }
  const [removing] = closed.filter(({ rate }) => rate === 'free');
  if (removing === undefined) throw new Error('every method is limited');
  expect((await call(removing, { token, orgId })).status).toBe(404);
});

it('every success is documented, with every field', async () => {
  const { token } = admin;
  const attempt = {
    attemptId: 'a',
    organizationId: admin.orgId,
    webhookId,
    deliveryId: 'd',
    projectId: 'p',
    eventId: 'e',
    eventType: 'message_sent',
    attempt: 2,
    trigger: 'SCHEDULED',
    status: 'FAILED_WILL_RETRY',
    responseCode: 500,
    error: 'http_status',
    durationMs: 12,
    responseBody: 'no',
    endpointUrl: content.endpoint_url,
    acceptTimeMs: 0,
    attemptTimeMs: Date.UTC(2026, 0, 1),
    nextAttemptTimeMs: Date.UTC(2026, 0, 2),
  } as const;
  management.log.attempts = [attempt];
  for (const method of methods) {
    expect((await call(method, { token })).status).toBe(method.status);
  }
  expect([...management.documented].filter((one) => !management.seen.has(one))).toEqual([]);
  // A webhook is paused by the service, and a recovery ends early after ten thousand deliveries: other tests do.
  expect(management.unseenFields()).toEqual([
    'listWebhooks.webhooks.pause_reason',
    'createWebhook.webhook.pause_reason',
    'getWebhook.webhook.pause_reason',
    'updateWebhook.webhook.pause_reason',
    'recoverDeliveries.next_from',
  ]);
});

it('what generators of clients ask of a document holds', async () => {
  const { json: document } = await management.call('GET', '/openapi.json');
  const found = isObject(document) ? document : expect.fail();
  expect(at(found, 'info', 'license', 'identifier')).toBe('Apache-2.0');
  const schemes = Object.keys(objectAt(found, 'components', 'securitySchemes'));
  const ids: unknown[] = [];
  const items = ['paths', 'webhooks'].flatMap((part) => Object.values(objectAt(found, part)));
  for (const [method, one] of items.flatMap((item) => Object.entries(item ?? {}))) {
    expect(['get', 'post', 'patch', 'delete']).toContain(method);
    ids.push(at(one, 'operationId'));
    const security = at(one, 'security');
    const needs = Array.isArray(security) ? security : expect.fail('no security');
    expect(schemes).toEqual(expect.arrayContaining(needs.flatMap((need) => Object.keys(need))));
    const responses = objectAt(one, 'responses');
    expect(Object.keys(responses).some((status) => /^4\d\d$/.test(status))).toBe(true);
    for (const [status, response] of Object.entries(responses)) {
      expect(at(response, 'description')).toEqual(expect.any(String));
      const isLimit = ['429', '503'].includes(status);
      expect(at(response, 'headers', 'Retry-After') !== undefined).toBe(isLimit);
    }
  }
  expect(ids).toEqual(ids.map(() => expect.stringMatching(/^[a-z]\w+$/)));
  expect(new Set(ids).size).toBe(ids.length);
});

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((one, name) => (isObject(one) ? one[name] : undefined), value);
}

function objectAt(value: unknown, ...path: string[]): Record<string, unknown> {
  const found = at(value, ...path);
  return isObject(found) ? found : expect.fail(`no ${path.join('.')}`);
}

it('the catalogue has an example of each event type that its schema allows', async () => {
  const { json } = await management.call('GET', '/v1/webhook-event-types');
  const types = Array.isArray(json?.['event_types']) ? json['event_types'] : [];
  expect(types).toHaveLength(9);
  for (const { schema, example, event_type } of types) {
    const ajv = new Ajv2020({ formats: { 'date-time': /Z$/ } });
    expect(ajv.validate(schema, example)).toBe(true);
    expect(example).toMatchObject({ eventType: event_type });
    const { data, ...without } = example;
    expect(isObject(data)).toBe(true);
    expect(ajv.validate(schema, without)).toBe(false);
    expect(ajv.validate(schema, { ...example, data: { eventId: 'e', distinctId: '' } })).toBe(
      false,
    );
  }
});
