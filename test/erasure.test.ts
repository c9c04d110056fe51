// Two persons play in the whole product, and one of them is erased: no table, no file, no stream has a word of that one
// afterwards, and all that remains adds up to the other's events.

import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBroker, type NatsConnection } from '../platform/broker/nats.ts';
import { createClickHouse, type DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { fieldOf } from '../platform/json.ts';
import { createLog } from '../platform/log.ts';
import { checkTables } from '../sql/check/compare-tables.ts';
import { batchCreate, call, eventually, newEvent, rows } from './harness/clients/client.ts';
import { newCustomer } from './harness/clients/new-customer.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

let stack: Stack;
let clickhouse: DatabaseClient;
let nats: NatsConnection;
beforeAll(async () => {
  stack = await startStack();
  const log = createLog('silent');
  clickhouse = createClickHouse(stack.clickhouseUrl, { log, maxConnections: 2 });
  nats = await connectBroker(stack.natsUrl, log);
});
afterAll(async () => {
  await clickhouse?.close();
  await nats?.close();
  await stack?.stop();
});

const [ada, anonymousAda, bob] = ['ada-x7k2q9w4', 'anon-m3v8z1c5', 'bob-p6t4r2y8'];
const trait = 'trait-h5j7l9n1';
const sharedSession = randomUUID();
const profiles = '/shared.profiles.v1.ProfilesService';

const ask = (method: string, message: object) =>
  call(stack.baseUrl, method, stack.privateKey, message);

async function identify(externalId: string, anonymousId: string, traits: object): Promise<void> {
  const path = '/sdk.profiles.v1.ProfilesSDKService/Identify';
  const { status } = await ask(path, { externalId, anonymousId, traits });
  expect(status).toBe(200);
}

const count = async (sql: string): Promise<number> => {
  const [row] = await rows<{ n: number }>(stack.clickhouseUrl, `SELECT count() AS n FROM ${sql}`);
  return row?.n ?? -1;
};

async function play(): Promise<void> {
  const events = [
    ...['/', '/pricing'].map((path) =>
      newEvent({
        distinctId: anonymousAda,
        autoProperties: { $url: { stringValue: `https://example.org${path}?who=${trait}` } },
      }),
    ),
    newEvent({ distinctId: ada, kind: 'purchase', sessionId: sharedSession }),
    newEvent({
      distinctId: ada,
      kind: 'only_hers',
      customProperties: { [trait]: { intValue: '1' } },
    }),
    newEvent({
      distinctId: bob,
      sessionId: sharedSession,
      customProperties: { plan: { stringValue: 'pro' } },
    }),
    newEvent({ distinctId: bob, kind: 'purchase' }),
  ];
  expect((await batchCreate(stack, events)).status).toBe(200);
  await identify(ada, anonymousAda, { email: trait });
  await identify(bob, '', { email: 'bob@example.org' });
  await eventually(
    () => count('events'),
    (n) => n === 6,
  );
  await eventually(
    async () => (await ask(`${profiles}/GetByExternalId`, { externalId: ada })).status,
    (status) => status === 200,
  );
}

async function untilCompleted(requestId: string): Promise<Record<string, unknown>> {
  return eventually(
    async () => (await ask(`${profiles}/GetDeletionRequest`, { requestId })).body,
    ({ status }) => status === 'COMPLIANCE_REQUEST_STATUS_COMPLETED',
    400_000,
  );
}

const trend = (kind: string) =>
  ask('/shared.insights.v1.InsightsService/Query', {
    spec: {
      insightType: 'INSIGHT_TYPE_SEGMENTATION',
      events: [{ event: { kind }, aggregation: 'AGGREGATION_TYPE_TOTAL' }],
    },
    timeRange: {
      from: new Date(Date.now() - 86_400_000).toISOString(),
      to: new Date(Date.now() + 86_400_000).toISOString(),
    },
  });

const secrets = [ada, anonymousAda, trait];

/** Every table that has a text of the person, each column as a text. */
async function tablesThatTell(): Promise<string[]> {
  const tables = await rows<{ name: string; engine: string }>(
    stack.clickhouseUrl,
    'SELECT name, engine FROM system.tables WHERE database = currentDatabase()',
  ).catch(() => []);
  const names =
    tables.length > 0
      ? tables.filter(({ engine }) => engine.includes('MergeTree')).map(({ name }) => name)
      : await tableNames();
  const found: string[] = [];
  for (const name of names) {
    const needles = secrets.map((text) => `position(row, '${text}') > 0`).join(' OR ');
    const n = await count(`(SELECT toString(tuple(*)) AS row FROM ${name}) WHERE ${needles}`);
    if (n > 0) found.push(name);
  }
  expect(names.length).toBeGreaterThan(10);
  return found;
}

async function tableNames(): Promise<string[]> {
  const found = await rows<{ table: string }>(
    stack.clickhouseUrl,
    'SELECT DISTINCT table FROM system.parts WHERE database = currentDatabase() AND active',
  );
  return found.map(({ table }) => table);
}

/** Files below a directory whose bytes have a text of the person. */
function filesThatTell(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(directory, name);
    try {
      if (!statSync(path).isFile()) return false;
      const bytes = readFileSync(path);
      return secrets.some((text) => bytes.includes(text));
    } catch {
      return false;
    }
  });
}

/** Of everybody: a file has her events. */
async function keepAnExport(): Promise<void> {
  const exports = '/shared.exports.v1.ExportsService';
  const query = { what: 'EXPORT_WHAT_EVENTS', format: 'EXPORT_FORMAT_CSV' };
  expect((await ask(`${exports}/Create`, { query })).status).toBe(200);
  await eventually(
    async () => JSON.stringify((await ask(`${exports}/List`, {})).body),
    (text) => text.includes('EXPORT_STATE_READY'),
  );
  expect(filesThatTell(join(stack.dataDir, 'exports'))).not.toEqual([]);
}

it('leaves nothing of an erased person, and all of the others', async () => {
  await play();
  expect(await tablesThatTell()).toContain('events');
  expect(filesThatTell(join(stack.dataDir, 'clickhouse')).length).toBeGreaterThan(0);
  await keepAnExport();
  const asked = await ask(`${profiles}/DeleteDataSubject`, { externalId: ada });
  expect(asked.status).toBe(200);
  expect(asked.body['status']).toBe('COMPLIANCE_REQUEST_STATUS_PENDING');
  const again = await ask(`${profiles}/DeleteDataSubject`, { externalId: ada });
  const requestId = String(asked.body['requestId']);
  expect([requestId, undefined]).toContain(again.body['requestId']);
  const done = await untilCompleted(requestId);
  expect(done).toMatchObject({ requestId, eventsIdentified: '4' });
  expect(done['externalId'] ?? '').toBe('');
  expect(done['profileId']).toMatch(/^[0-9a-f]{32}$/);

  expect(await tablesThatTell()).toEqual([]);
  for await (const { table, differences } of checkTables(clickhouse, async () => {})) {
    expect(differences, table).toEqual([]);
  }
  expect(await count('events')).toBe(2);
  expect((await ask(`${profiles}/GetByExternalId`, { externalId: ada })).status).toBe(404);
  const left = await ask(`${profiles}/GetByExternalId`, { externalId: bob });
  expect(left.body['profile']).toMatchObject({ activity: { totalEvents: '2', pageviews: '1' } });
  for (const [kind, total] of [
    ['purchase', 1],
    ['page_view', 1],
    ['only_hers', 0],
  ] as const) {
    const { body } = await trend(kind);
    const answered = fieldOf(body['segmentation'], 'total') ?? 0;
    expect(answered, kind).toBe(total);
  }
  const schema = await ask('/shared.insights.v1.InsightsService/GetFilterSchema', {});
  expect(JSON.stringify(schema.body)).not.toContain(trait);
  expect(JSON.stringify(schema.body)).not.toContain('only_hers');
});

it('leaves no byte of an erased person on the disk', async () => {
  for (const name of await tableNames()) {
    await clickhouse.command({ query: `OPTIMIZE TABLE ${name} FINAL` });
  }
  // Parts that were replaced stay for up to 41 s.
  await expect
    .poll(() => filesThatTell(join(stack.dataDir, 'clickhouse')), {
      timeout: 400_000,
      interval: 1_000,
    })
    .toEqual([]);
  await expect.poll(() => filesThatTell(stack.dataDir), { interval: 1_000 }).toEqual([]);
});

it('answers for a profile that was hidden, without a record of it', async () => {
  const found = await ask(`${profiles}/GetByExternalId`, { externalId: bob });
  const profileId = String(fieldOf(found.body['profile'], 'id'));
  const { body } = await ask(`${profiles}/Delete`, { id: profileId });
  const { requestId } = body;
  expect(body['status']).toBe('COMPLIANCE_REQUEST_STATUS_COMPLETED');
  const answer = await ask(`${profiles}/GetDeletionRequest`, { requestId });
  const status = 'COMPLIANCE_REQUEST_STATUS_COMPLETED';
  expect(answer.body).toMatchObject({ requestId, profileId, status });
  const { streams } = await nats.jetstreamManager();
  // The one of the erasure.
  expect((await streams.info('KV_erasures')).state.messages).toBe(1);
  const foreign = await newCustomer(stack.baseUrl);
  const asked = await foreign.call('shared.profiles.v1.ProfilesService/GetDeletionRequest', {
    requestId,
  });
  expect(asked.status).toBe(404);
});
