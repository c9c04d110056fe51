// The erasure of a person on a real broker and engine, by a process that dies at one of its steps: whoever goes on
// erases the rest, those rows too that came meanwhile, and every sum is that of the others' events. What somebody hands
// on afterwards who stood still is erased, too.

import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { buckets } from '../platform/broker/buckets.ts';
import type { KV, NatsConnection } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import {
  deadLetterStream,
  deadLetterSubject,
  eventsLedgerKey,
  eventsStream,
} from '../platform/broker/streams.ts';
import type { WatchedBucket } from '../platform/broker/watched-bucket.ts';
import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../platform/clickhouse/groups.ts';
import { hourMs } from '../platform/clock.ts';
import {
  type ErasureRecord,
  erasureKey,
  erasureWorkKey,
  readErasureWork,
} from '../platform/erasure/erasure-record.ts';
import { writersHoldSubject } from '../platform/ledger/writers-hold.ts';
import { createLog } from '../platform/log.ts';
import { checkTables } from '../sql/check/compare-tables.ts';
import { openErasureStores } from '../test/harness/erasures/erasure-stores.ts';
import { useBroker, useEngine } from '../test/harness/servers/use-servers.ts';
import { deliveries, storeAttempts } from '../test/harness/tables/stored-attempts.ts';
import { storeProfiles } from '../test/harness/tables/stored-profiles.ts';
import { deathsTimeoutMs, everySteps, Mortal } from '../test/harness/turns/mortal.ts';
import type { ErasureParts } from './erasure-parts.ts';
import { lookAgain, takeLookTurn } from './look-again.ts';
import { takeTurn } from './take-turn.ts';

const broker = useBroker();
const engine = useEngine();
const log = createLog('silent');
let nats: NatsConnection;
let clickhouse: DatabaseClient;
let requests: WatchedBucket<ErasureRecord>;
let ledgers: KV;
let created: string;
let seq = 0;
let nowMs = Date.now();

beforeAll(async () => {
  const stores = await openErasureStores(broker.url, engine.url, log);
  ({ nats, clickhouse, requests } = stores);
  ledgers = await nats.jetstream().views.kv(buckets.ledger, { bindOnly: true });
  created = (await (await nats.jetstreamManager()).streams.info(eventsStream(0))).created;
  return () => stores.close();
});

/** Events of one batch, each of [distinct id, kind, session], which the shard's ledger has as done. */
async function store(
  projectId: string,
  events: readonly (readonly [string, string, string])[],
  receivedMs?: number,
) {
  seq += 1;
  const received =
    receivedMs === undefined ? 'now64(3)' : `fromUnixTimestamp64Milli(toInt64(${receivedMs}))`;
  const values = events.map(
    ([distinctId, kind, session]) =>
      `('${projectId}', '${randomUUID()}', '${kind}', '${distinctId}', false, '${session}', now64(3), ${received}, 0, ${seq}, map('plan', 'pro'))`,
  );
  await clickhouse.command({
    query: `INSERT INTO events (project_id, event_id, kind, distinct_id, cookieless, session_id, occur_time, receive_time,
      shard, stream_seq, string_properties) VALUES ${values.join(', ')}`,
    clickhouse_settings: { insert_deduplication_token: `batch ${seq}` },
  });
  await ledgers.put(
    eventsLedgerKey(0),
    JSON.stringify({ schemaVersion: 1, streamCreated: created, hwm: seq }),
  );
}

const everyStep = everySteps(5);

const pass = <A extends unknown[], R>(work: (...args: A) => Promise<R>) => work;

/** What a process works with; each call that changes or tells something is a step. */
async function partsOf(step: Mortal['step'] = pass): Promise<ErasureParts> {
  const work = await openBucket(nats, buckets.instance, readErasureWork);
  // Nobody writes here who would have to stand still, and whoever has died says nothing.
  const silent: NatsConnection = Object.create(nats);
  silent.publish = (subject, ...content) => {
    if (subject !== writersHoldSubject) nats.publish(subject, ...content);
  };
  return {
    ...{ nats: silent, shards: 1, log, clock: { nowMs: () => nowMs } },
    clickhouse: oneGroup({
      query: clickhouse.query.bind(clickhouse),
      command: step(clickhouse.command.bind(clickhouse)),
    }),
    requests: {
      records: () => requests.records(),
      ask: (key) => requests.ask(key),
      update: step((key: string, record: ErasureRecord, revision: number) =>
        requests.update(key, record, revision),
      ),
      create: step((key: string, record: ErasureRecord) => requests.create(key, record)),
      remove: step((key: string) => requests.remove(key)),
    },
    work: { get: work.get, create: step(work.create), update: step(work.update) },
    profiles: { change: step(changeProfile) },
    box: { open: (sealed) => sealed },
  };
}

/** As the writer of profiles does: whoever is hidden has a row. */
async function changeProfile(
  projectId: string,
  change: Parameters<ErasureParts['profiles']['change']>[1],
): Promise<void> {
  if (change.kind !== 'delete') return;
  const hidden = { named: false, deleted: true, createTimeMs: 0, updateTimeMs: 0 };
  const { distinctId } = change;
  await storeProfiles(clickhouse, [{ projectId, distinctId, ...hidden }], String(seq + 2));
}

async function ask(projectId: string): Promise<string> {
  const result = await clickhouse.query({
    query: `SELECT lower(hex(millraceProfileHash('${projectId}', 'ada')))`,
    format: 'JSONCompactEachRow',
  });
  const [[profileId] = []] = await result.json<[string]>();
  const requestId = randomUUID();
  await requests.create(erasureKey(requestId), {
    ...{ schemaVersion: 1, requestId, projectId, status: 'pending', ids: '' },
    ...{ sealedId: 'ada', profileId: profileId ?? '', events: 0, requestedAtMs: nowMs },
    ...{ completedAtMs: 0, error: '' },
  });
  return requestId;
}

/** Two persons with a session of both; one of them has an anonymous id merged. */
async function play(): Promise<{ projectId: string; shared: string }> {
  const projectId = randomUUID();
  const shared = randomUUID();
  await storeProfiles(
    clickhouse,
    [
      { projectId, distinctId: 'ada', traits: { plan: 'pro' } },
      { projectId, distinctId: 'bob' },
      { projectId, distinctId: 'anon', named: false, owner: 'ada', root: 'ada', wasClaimed: true },
    ],
    String(seq + 1),
  );
  const own = randomUUID();
  await store(projectId, [
    ['anon', 'page_view', own],
    ['ada', 'page_view', shared],
    ['ada', 'only_hers', own],
    ['bob', 'page_view', shared],
    ['bob', 'purchase', randomUUID()],
  ]);
  return { projectId, shared };
}

async function untilCompleted(requestId: string, given?: ErasureParts): Promise<ErasureRecord> {
  const parts = given ?? (await partsOf());
  for (let turns = 0; turns < 5_000; turns++) {
    const read = await requests.ask(erasureKey(requestId));
    if (read.kind === 'found' && read.record.status === 'completed') return read.record;
    nowMs = Math.max(nowMs + 1, await takeTurn(parts));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the erasure does not end');
}

async function events(projectId: string): Promise<unknown[]> {
  const result = await clickhouse.query({
    query: `SELECT distinct_id, count() FROM events WHERE project_id = '${projectId}' GROUP BY 1 ORDER BY 1`,
    format: 'JSONCompactEachRow',
  });
  return result.json();
}

async function expectSums(): Promise<void> {
  for await (const { table, differences } of checkTables(clickhouse, async () => {})) {
    expect(differences, table).toEqual([]);
  }
}

it(
  'goes on after a death between its steps, whether the last one was done or not',
  async () => {
    const counting = new Mortal(Number.POSITIVE_INFINITY, false);
    const first = await play();
    const requestId = await ask(first.projectId);
    const parts = await partsOf(counting.step.bind(counting));
    while ((await requests.ask(erasureKey(requestId))).kind === 'found') {
      const read = await requests.ask(erasureKey(requestId));
      if (read.kind === 'found' && read.record.status === 'completed') break;
      nowMs = Math.max(nowMs + 1, await takeTurn(parts));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(counting.calls).toBeGreaterThan(30);
    await expectSums();
    for (let dieAt = 1; dieAt <= counting.calls; dieAt += everyStep) {
      const { projectId, shared } = await play();
      const request = await ask(projectId);
      const mortal = new Mortal(dieAt, dieAt % 2 === 0);
      const mortals = await partsOf(mortal.step.bind(mortal));
      const live = async (): Promise<void> => {
        for (;;) {
          nowMs = Math.max(nowMs + 1, await takeTurn(mortals));
          const read = await requests.ask(erasureKey(request));
          if (read.kind === 'found' && read.record.status === 'completed') return;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      };
      await Promise.race([live(), mortal.died]);
      const before = await requests.ask(erasureKey(request));
      const isOver = before.kind === 'found' && before.record.status === 'completed';
      // Others go on, and so does the person.
      await store(projectId, [
        ['ada', 'page_view', shared],
        ['bob', 'page_view', shared],
      ]);
      nowMs += 100_000;
      const done = await untilCompleted(request);
      expect(done.sealedId).toBe('');
      const left = await events(projectId);
      // Whoever comes after the erasure is completed is somebody new.
      const others = isOver ? [['ada', '1']] : [];
      expect(left, `step ${dieAt}`).toEqual([...others, ['bob', '3']]);
      expect(done.events, `step ${dieAt}`).toBe(isOver ? 3 : 4);
    }
    await expectSums();
  },
  deathsTimeoutMs,
);

/** A person whose erasure is completed, asked for after so long; `beforeMs` is a moment before the request. */
async function erased(afterMs = 60_000) {
  nowMs = Math.max(nowMs, Date.now()) + afterMs;
  const beforeMs = nowMs;
  const { projectId } = await play();
  const requestId = await ask(projectId);
  const known = () => requests.get(erasureKey(requestId))?.record.status;
  const first = await untilCompleted(requestId);
  await expect.poll(known).toBe('completed');
  return { projectId, requestId, beforeMs, known, first };
}

it('erases once more what was received before and came after, and nothing of somebody new', async () => {
  const { projectId, requestId, beforeMs, known, first } = await erased();
  const parts = await partsOf();
  const view = ['anon', 'page_view', randomUUID()] as const;
  await lookAgain(parts);
  expect(known()).toBe('completed');
  await store(projectId, [view], beforeMs);
  await nats.jetstream().publish(deadLetterSubject(0), JSON.stringify({ distinctId: 'anon' }));
  await lookAgain(parts);
  await expect.poll(known).toBe('pending');
  const again = await untilCompleted(requestId);
  expect(again.events).toBe(first.events + 1);
  const { streams } = await nats.jetstreamManager();
  expect((await streams.info(deadLetterStream)).state.messages).toBe(0);
  expect(await events(projectId)).toEqual([['bob', '2']]);
  await expect.poll(known).toBe('completed');
  await store(projectId, [view], beforeMs);
  await store(projectId, [view], again.completedAtMs + 1);
  await lookAgain(parts);
  expect(known()).toBe('completed');
  expect(await events(projectId)).toEqual([
    ['anon', '2'],
    ['bob', '2'],
  ]);
  await expectSums();
});

it('erases once more an attempt at a webhook that alone came late', async () => {
  const { projectId, requestId, beforeMs, known } = await erased();
  await storeAttempts(clickhouse, projectId, { anon: beforeMs, bob: beforeMs });
  const parts = await partsOf();
  await lookAgain(parts);
  await expect.poll(known).toBe('pending');
  await untilCompleted(requestId);
  expect(await deliveries(clickhouse, projectId)).toEqual([['bob', '2']]);
  await expect.poll(known).toBe('completed');
  await lookAgain(parts);
  expect(known()).toBe('completed');
});

/** A person whose erasure was completed and is open again for one late row. */
async function openAgain() {
  const { projectId, requestId, beforeMs, known, first } = await erased();
  const view = ['anon', 'page_view', randomUUID()] as const;
  await store(projectId, [view], beforeMs);
  const parts = await partsOf();
  await lookAgain(parts);
  await expect.poll(known).toBe('pending');
  const comeBack = () => store(projectId, [view], first.completedAtMs + 1);
  return { projectId, requestId, first, parts, comeBack };
}

async function hiddenIds(projectId: string): Promise<unknown[]> {
  const result = await clickhouse.query({
    query: `SELECT distinct_id FROM profiles WHERE project_id = '${projectId}' AND deleted`,
    format: 'JSONCompactEachRow',
  });
  return result.json();
}

it.each([
  ['before it is hidden', 'look', 2],
  ['after the cut', 'forget', 1],
] as const)('leaves somebody alone who comes back %s', async (_, moment, left) => {
  const { projectId, requestId, first, parts, comeBack } = await openAgain();
  if (moment === 'look') await comeBack();
  let isAway = moment === 'forget';
  const profiles: ErasureParts['profiles'] = {
    async change(project, change) {
      await changeProfile(project, change);
      if (project !== projectId || change.kind !== moment || !isAway) return;
      isAway = false;
      await comeBack();
    },
  };
  const again = await untilCompleted(requestId, { ...parts, profiles });
  expect(await events(projectId)).toEqual([
    ['anon', String(left)],
    ['bob', '2'],
  ]);
  expect(await hiddenIds(projectId)).toEqual([]);
  expect(again.events).toBe(first.events + 2 - left);
  expect(again.firstCompletedAtMs).toBe(first.completedAtMs);
  await expectSums();
});

it('goes on with whoever comes back once it is hidden, though a process dies at that moment', async () => {
  const { projectId, requestId, parts, comeBack } = await openAgain();
  const mortal = new Mortal(1, true);
  const hide = mortal.step(changeProfile);
  void takeTurn({ ...parts, profiles: { change: hide } });
  await mortal.died;
  expect(await hiddenIds(projectId)).toEqual([['anon']]);
  await comeBack();
  nowMs += 100_000;
  await untilCompleted(requestId);
  expect(await events(projectId)).toEqual([['bob', '2']]);
  expect(await hiddenIds(projectId)).toEqual([]);
  await expectSums();
});

it('looks once an hour, whichever process does, and not beside other work', async () => {
  const { projectId, requestId, beforeMs, known } = await erased(2 * hourMs);
  const [one, other] = [await partsOf(), await partsOf()];
  const nextMs = await takeLookTurn(one);
  expect(nextMs).toBe(nowMs + hourMs);
  await store(projectId, [['anon', 'page_view', randomUUID()]], beforeMs);
  nowMs += 1_000;
  expect(await takeLookTurn(other)).toBe(nextMs);
  expect(known()).toBe('completed');
  nowMs = nextMs;
  const found = await one.work.get(erasureWorkKey);
  if (found.kind !== 'found') throw new Error('there is no record of the work');
  const held = { ...found.record, leaseEndMs: nowMs + 50_000 };
  await one.work.update(erasureWorkKey, held, found.revision);
  expect(await takeLookTurn(one)).toBe(nowMs + 500);
  expect(known()).toBe('completed');
  nowMs += 50_000;
  await takeLookTurn(other);
  await expect.poll(known).toBe('pending');
  const after = await one.work.get(erasureWorkKey);
  expect(after).toMatchObject({ record: { lookedAtMs: nowMs, leaseEndMs: 0 } });
  await untilCompleted(requestId);
});

it('looks again at once where it lost its lease meanwhile, and opens nothing', async () => {
  const { projectId, requestId, beforeMs, known } = await erased(2 * hourMs);
  await store(projectId, [['anon', 'page_view', randomUUID()]], beforeMs);
  const [parts, other] = [await partsOf(), await partsOf()];
  // It stands still within a statement until its lease is over, and another process takes the lease.
  let stoodStill = false;
  const standStill =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const result = await work(...args);
      if (stoodStill) return result;
      stoodStill = true;
      nowMs += 91_000;
      const found = await other.work.get(erasureWorkKey);
      if (found.kind !== 'found') throw new Error('there is no record of the work');
      const held = { ...found.record, leaseEndMs: nowMs + 50_000 };
      await other.work.update(erasureWorkKey, held, found.revision);
      return result;
    };
  const { command } = parts.clickhouse.first;
  const query = standStill(clickhouse.query.bind(clickhouse));
  const startMs = nowMs;
  const nextMs = await takeLookTurn({ ...parts, clickhouse: oneGroup({ query, command }) });
  expect(stoodStill).toBe(true);
  expect(nextMs).toBeLessThan(startMs + hourMs);
  expect(known()).toBe('completed');
  nowMs += 50_000;
  await takeLookTurn(parts);
  await expect.poll(known).toBe('pending');
  await untilCompleted(requestId);
  expect(await events(projectId)).toEqual([['bob', '2']]);
});
