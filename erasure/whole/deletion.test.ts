// The deletion of whole projects on a real broker and engine, by a process that dies at one of its steps. The test
// walks the engine's catalogue and the list of buckets by itself: whoever adds a table or a bucket and forgets it here
// is told.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import type { KV, NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import {
  deadLetterStream,
  deadLetterSubject,
  eventsLedgerKey,
} from '../../platform/broker/streams.ts';
import { shardOf } from '../../platform/broker/topology.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { Groups, oneGroup } from '../../platform/clickhouse/groups.ts';
import { askForDeletion } from '../../platform/erasure/ask-for-deletion.ts';
import {
  type ErasureRecord,
  erasureKey,
  readErasureWork,
  type Whole,
} from '../../platform/erasure/erasure-record.ts';
import { createLog } from '../../platform/log.ts';
import { dueStream, dueSubject, webhookStreams } from '../../platform/webhooks/webhook-streams.ts';
import { openErasureStores } from '../../test/harness/erasures/erasure-stores.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import { deathsTimeoutMs, everySteps, Mortal } from '../../test/harness/turns/mortal.ts';
import type { ErasureParts } from '../erasure-parts.ts';
import { lookAgain } from '../look-again.ts';
import { startErasures } from '../start.ts';
import { takeTurn } from '../take-turn.ts';
import { endAccount } from './end-account.ts';

const broker = useBroker();
const engine = useEngine();
const log = createLog('silent');
let nats: NatsConnection;
let clickhouse: DatabaseClient;
let requests: WatchedBucket<ErasureRecord>;
let nowMs = Date.now();

beforeAll(async () => {
  const stores = await openErasureStores(broker.url, engine.url, log);
  ({ nats, clickhouse, requests } = stores);
  await (await openKv(buckets.ledger)).delete(eventsLedgerKey(0));
  return () => stores.close();
});

const openKv = (name: string): Promise<KV> => nats.jetstream().views.kv(name, { bindOnly: true });

async function keysOf(kv: KV): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of await kv.keys()) keys.push(key);
  return keys;
}

async function select(query: string): Promise<unknown[][]> {
  const result = await clickhouse.query({ query, format: 'JSONCompactEachRow' });
  return result.json<unknown[]>();
}

/** No row of these is one project's: names of events by keyed hashes, the store's own id, migrations. */
const ofNoProject = ['event_ids', 'event_ids_reach', 'schema_migrations', 'store_identity'];

async function tables(): Promise<string[]> {
  const found = await select(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name",
  );
  expect(found.length).toBeGreaterThan(15);
  return found.map(([name]) => String(name)).filter((name) => !ofNoProject.includes(name));
}

/** A row in each table: one that names no project is for `ofNoProject`, or is forgotten by deletions. */
async function fillTables(projectId: string): Promise<void> {
  for (const name of await tables()) await fillTable(name, projectId);
}

async function fillTable(name: string, projectId: string): Promise<void> {
  // Old rows of these leave by themselves.
  const time = { dead_letters: 'time', webhook_attempts: 'attempt_time' }[name];
  const [columns, values] =
    time === undefined
      ? ['project_id', `'${projectId}'`]
      : [`project_id, ${time}`, `'${projectId}', now64(3)`];
  await clickhouse.command({ query: `INSERT INTO ${name} (${columns}) VALUES (${values})` });
}

async function tablesThatName(id: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await tables()) {
    const [[count] = []] = await select(
      `SELECT count() FROM (SELECT toString(tuple(*)) AS row FROM ${name}) WHERE position(row, '${id}') > 0`,
    );
    if (Number(count) > 0) found.push(name);
  }
  return found;
}

const now = new Date().toISOString();

function organization(id: string, projectId: string): object {
  return {
    ...{ schemaVersion: 1, id, displayName: 'Shop', createTime: now, updateTime: now },
    members: [
      { customerId: 'ada', role: 'admin' },
      { customerId: 'bob', role: 'viewer', projectIds: [projectId, 'other'] },
    ],
    invitations: [
      {
        id: 'i',
        email: 'eve@example.org',
        role: 'viewer',
        createTime: now,
        projectIds: [projectId],
      },
    ],
  };
}

function webhooks(projectId: string): object {
  const webhook = {
    ...{ name: 'w', description: '', endpointUrl: 'https://example.org/', status: 'ACTIVE' },
    ...{ sealedSecret: '', createTime: now, updateTime: now, activeTime: now },
  };
  const own = { subjectType: 'PROJECT', subjectId: projectId, eventType: 'event' };
  const other = { ...own, subjectId: 'other' };
  return {
    ...{ schemaVersion: 1, sealedCurrentSecret: '' },
    webhooks: [
      { ...webhook, id: 'both', subscriptions: [own, other] },
      { ...webhook, id: 'own', subscriptions: [own] },
    ],
  };
}

/** A key of each form in each bucket; those of the project's organization have what the service writes. */
async function fillBuckets(projectId: string, organizationId: string): Promise<void> {
  for (const name of Object.values(buckets)) {
    if (name === buckets.erasures) continue;
    const kv = await openKv(name);
    for (const key of [projectId, `${projectId}.0`, `annotations.${projectId}`]) {
      await kv.put(key, JSON.stringify({ schemaVersion: 1, projectId }));
    }
  }
  const organizations = await openKv(buckets.organizations);
  await organizations.put(organizationId, JSON.stringify(organization(organizationId, projectId)));
  await (await openKv(buckets.webhooks)).put(organizationId, JSON.stringify(webhooks(projectId)));
  await requests.create(erasureKey(randomUUID()), {
    ...{ schemaVersion: 1, requestId: randomUUID(), projectId, status: 'completed', ids: '' },
    ...{ sealedId: '', profileId: '0'.repeat(32), events: 0, requestedAtMs: 1 },
    ...{ completedAtMs: 1, error: '' },
  });
}

async function bucketsThatName(id: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of Object.values(buckets)) {
    const kv = await openKv(name);
    for (const key of await keysOf(kv)) {
      const text = (await kv.get(key))?.string() ?? '';
      // The request itself tells that it was done.
      const isRequest = name === buckets.erasures && key === erasureKey(id);
      if (!isRequest && `${key} ${text}`.includes(id)) found.push(`${name} ${key}`);
    }
  }
  return found;
}

/** A delivery that waits and a dead letter, each with one of another project beside it. */
async function fillStreams(projectId: string): Promise<void> {
  const js = nats.jetstream();
  for (const id of [projectId, 'other']) {
    await js.publish(dueSubject('first', 'both'), JSON.stringify({ projectId: id }));
    await js.publish(deadLetterSubject(0), JSON.stringify({ projectId: id }));
  }
}

async function streamsThatName(id: string): Promise<string[]> {
  const { streams } = await nats.jetstreamManager();
  const found: string[] = [];
  for (const name of [deadLetterStream, ...webhookStreams]) {
    const { state } = await streams.info(name);
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await streams.getMessage(name, { seq }).catch(() => undefined);
      if (message !== undefined && Buffer.from(message.data).includes(id)) found.push(name);
    }
  }
  return found;
}

async function fill(): Promise<{ projectId: string; organizationId: string }> {
  const [projectId, organizationId] = [randomUUID(), randomUUID()];
  await fillTables(projectId);
  await clickhouse.command({ query: `CREATE DATABASE IF NOT EXISTS \`sql_${projectId}\`` });
  await clickhouse.command({ query: `CREATE VIEW \`sql_${projectId}\`.events AS SELECT 1 AS one` });
  await fillBuckets(projectId, organizationId);
  await fillStreams(projectId);
  return { projectId, organizationId };
}

const pass = <A extends unknown[], R>(work: (...args: A) => Promise<R>) => work;

/** What a process works with; each call that changes something is a step. */
async function partsOf(step: Mortal['step'] = pass): Promise<ErasureParts> {
  const work = await openBucket(nats, buckets.instance, readErasureWork);
  const stepping: NatsConnection = Object.create(nats);
  stepping.jetstream = (options) => {
    const js = nats.jetstream(options);
    const kv = async (name: string, how: object): Promise<KV> => {
      const opened = await js.views.kv(name, how);
      const stepped: KV = Object.create(opened);
      stepped.delete = step((key: string) => opened.delete(key));
      return stepped;
    };
    return Object.create(js, { views: { value: { kv } } });
  };
  return {
    ...{ nats: stepping, shards: 1, log, clock: { nowMs: () => nowMs } },
    clickhouse: oneGroup({
      query: clickhouse.query.bind(clickhouse),
      command: step(clickhouse.command.bind(clickhouse)),
    }),
    requests: {
      records: () => requests.records(),
      ask: (key) => requests.ask(key),
      create: step((key: string, record: ErasureRecord) => requests.create(key, record)),
      update: step((key: string, record: ErasureRecord, revision: number) =>
        requests.update(key, record, revision),
      ),
      remove: step((key: string) => requests.remove(key)),
    },
    work: { get: work.get, create: step(work.create), update: step(work.update) },
    profiles: { change: step(async () => {}) },
    box: { open: (sealed) => sealed },
  };
}

const ask = (id: string, whole: Whole) =>
  askForDeletion(requests, { id, ...whole }, { nowMs: () => nowMs });

async function isCompleted(id: string): Promise<boolean> {
  const read = await requests.ask(erasureKey(id));
  return read.kind === 'found' && read.record.status === 'completed';
}

/** Turns by the clock of the test, until the request is completed. */
async function live(parts: ErasureParts, id: string): Promise<void> {
  while (!(await isCompleted(id))) {
    nowMs = Math.max(nowMs + 30_000, await takeTurn(parts));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function expectGone(projectId: string): Promise<void> {
  expect(await tablesThatName(projectId)).toEqual([]);
  expect(await bucketsThatName(projectId)).toEqual([]);
  expect(await streamsThatName(projectId)).toEqual([]);
  const views = `SELECT name FROM system.tables WHERE database = 'sql_${projectId}'`;
  expect(await select(views)).toEqual([]);
}

it('leaves nothing of a project in any table, bucket or stream, and all of the others', async () => {
  const other = await fill();
  const { projectId, organizationId } = await fill();
  expect((await tablesThatName(projectId)).sort()).toEqual((await tables()).sort());
  const whole = { kind: 'project', organizationId, displayName: 'Shop' } as const;
  await ask(projectId, whole);
  // Nothing before what was let in has had its time.
  await takeTurn(await partsOf());
  expect(await tablesThatName(projectId)).toContain('events');
  await live(await partsOf(), projectId);
  await expectGone(projectId);
  const done = await requests.ask(erasureKey(projectId));
  expect(done).toMatchObject({ record: { events: 1, error: '', whole: { displayName: '' } } });
  expect((await tablesThatName(other.projectId)).sort()).toEqual((await tables()).sort());
  expect((await bucketsThatName(other.projectId)).length).toBeGreaterThan(30);
  expect(await streamsThatName('other')).toContain(dueStream);
  const record = await (await openKv(buckets.organizations)).get(organizationId);
  expect(record?.json()).toMatchObject({
    members: [{ customerId: 'ada' }, { customerId: 'bob', projectIds: ['other'] }],
    invitations: [{ id: 'i', projectIds: [] }],
  });
  const left = await (await openKv(buckets.webhooks)).get(organizationId);
  expect(left?.json()).toMatchObject({
    webhooks: [{ id: 'both', subscriptions: [{ subjectId: 'other' }] }],
  });
});

it('asks for the projects of an organization, and takes away what is an account’s alone', async () => {
  const { projectId, organizationId } = await fill();
  const [customerId, projects] = [randomUUID(), await openKv(buckets.projects)];
  const project = { id: projectId, organizationId, displayName: 'Shop', timezone: 'UTC', keys: [] };
  await projects.put(
    projectId,
    JSON.stringify({ schemaVersion: 1, ...project, createTime: now, updateTime: now }),
  );
  const own = {
    [buckets.customers]: [customerId, { sessionIds: ['s1'] }],
    [buckets.sessions]: ['s1', { customerId }],
  };
  for (const [name, [key, value]] of Object.entries({
    ...own,
    [buckets.owners]: ['email.1', { customerId }],
  })) {
    await (await openKv(name)).put(String(key), JSON.stringify(value));
  }
  const members = [
    { customerId, role: 'member' },
    { customerId: 'ada', role: 'admin' },
  ];
  const shared = { ...organization('shared', 'other'), members };
  await (await openKv(buckets.organizations)).put('shared', JSON.stringify(shared));
  await ask(organizationId, { kind: 'organization', organizationId: '', displayName: '' });
  await ask(customerId, { kind: 'account', organizationId: '', displayName: '' });
  for (const id of [organizationId, customerId, projectId]) await live(await partsOf(), id);
  await expectGone(projectId);
  expect(await bucketsThatName(customerId)).toEqual([]);
  // The deletion of the project names its organization, so that somebody could ask.
  expect(await bucketsThatName(organizationId)).toEqual([`erasures ${erasureKey(projectId)}`]);
  const left = await (await openKv(buckets.organizations)).get('shared');
  expect(left?.json()).toMatchObject({ members: [{ customerId: 'ada' }] });
});

it('asks the broker no more for an account where there are more organizations and customers', async () => {
  const parts = await partsOf();
  const [organizations, owners] = [
    await openKv(buckets.organizations),
    await openKv(buckets.owners),
  ];
  const messagesOf = async (customerId: string): Promise<number> => {
    const before = nats.stats().outMsgs;
    await endAccount(parts, customerId);
    return nats.stats().outMsgs - before;
  };
  const few = await messagesOf(randomUUID());
  for (let more = 0; more < 100; more++) {
    await organizations.put(`more${more}`, JSON.stringify(organization(`more${more}`, 'other')));
    await owners.put(`more.${more}`, JSON.stringify({ schemaVersion: 1, customerId: 'ada' }));
  }
  expect(await messagesOf(randomUUID())).toBeLessThan(few + 50);
});

it('deletes once more what a process hands on afterwards that stood still', async () => {
  const { projectId, organizationId } = await fill();
  await ask(projectId, { kind: 'project', organizationId, displayName: '' });
  await live(await partsOf(), projectId);
  const known = () => requests.get(erasureKey(projectId))?.record.status;
  for (const late of [() => fillTables(projectId), () => fillTable('dead_letters', projectId)]) {
    await expect.poll(known).toBe('completed');
    await lookAgain(await partsOf());
    expect(known()).toBe('completed');
    await late();
    await lookAgain(await partsOf());
    await expect.poll(known).toBe('pending');
    await live(await partsOf(), projectId);
    await expectGone(projectId);
  }
});

it('finds them in the project’s group or in the first one, though all other groups are away', async () => {
  const { projectId, organizationId } = await fill();
  await ask(projectId, { kind: 'project', organizationId, displayName: '' });
  await live(await partsOf(), projectId);
  const known = () => requests.get(erasureKey(projectId))?.record.status;
  const parts = await partsOf();
  const isAway = () => Promise.reject(new Error('this group is away'));
  let shards = 2;
  while (shardOf(projectId, shards) === 0) shards += 1;
  for (const [place, table] of [
    [shardOf(projectId, shards), 'events'],
    // It has the log of webhooks.
    [0, 'webhook_attempts'],
  ] as const) {
    await expect.poll(known).toBe('completed');
    await fillTable(table, projectId);
    const groups = Array.from({ length: shards }, (_, group) =>
      group === place ? parts.clickhouse.first : { query: isAway, command: isAway },
    );
    await lookAgain({ ...parts, clickhouse: new Groups(groups, shards) });
    await expect.poll(known).toBe('pending');
    await live(parts, projectId);
    await expectGone(projectId);
  }
});

it('looks for such rows by itself', async () => {
  const { projectId, organizationId } = await fill();
  await ask(projectId, { kind: 'project', organizationId, displayName: '' });
  await live(await partsOf(), projectId);
  const known = () => requests.get(erasureKey(projectId))?.record;
  await expect.poll(() => known()?.status).toBe('completed');
  const completedAtMs = known()?.completedAtMs;
  await fillTable('events', projectId);
  const [dataDir, startedMs] = [mkdtempSync(join(tmpdir(), 'millrace-late-')), Date.now()];
  // A minute later, and on it goes.
  nowMs += 60_000;
  const clock = { nowMs: () => nowMs + Date.now() - startedMs };
  const parts = { ...(await partsOf()), requests, clock };
  const turns = startErasures({ ...parts, projects: () => [], dataDir });
  const isDoneAgain = () =>
    known()?.status === 'completed' && known()?.completedAtMs !== completedAtMs;
  await expect.poll(isDoneAgain, { timeout: 120_000 }).toBe(true);
  await turns.stop();
  nowMs = clock.nowMs();
  rmSync(dataDir, { recursive: true });
  await expectGone(projectId);
});

const everyStep = everySteps(31);

it(
  'goes on where a process died, and finds what came meanwhile',
  async () => {
    const counting = new Mortal(Number.POSITIVE_INFINITY, false);
    const counted = await fill();
    const whole = { kind: 'project', displayName: '' } as const;
    await ask(counted.projectId, { ...whole, organizationId: counted.organizationId });
    await live(await partsOf(counting.step.bind(counting)), counted.projectId);
    expect(counting.calls).toBeGreaterThan(50);
    for (let dieAt = 1; dieAt <= counting.calls; dieAt += everyStep) {
      const { projectId, organizationId } = await fill();
      await ask(projectId, { ...whole, organizationId });
      const mortal = new Mortal(dieAt, dieAt % 2 === 0);
      const mortals = await partsOf(mortal.step.bind(mortal));
      await Promise.race([live(mortals, projectId), mortal.died]);
      // A batch that was promised at that moment is stored once more.
      if (!(await isCompleted(projectId))) await fillTables(projectId);
      nowMs += 100_000;
      await live(await partsOf(), projectId);
      await expectGone(projectId);
    }
  },
  deathsTimeoutMs,
);
