// A project that keeps its events for thirty days, beside one that never had older ones, on a real broker and engine:
// both have the same answers, before the work and after it, and nothing older is left in any table. A process that dies
// at one of the steps leaves the rest to whoever goes on, while events are stored.
// Takes some 190 seconds.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { connectBroker, type KV, type NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { eventsLedgerKey, eventsStream } from '../../platform/broker/streams.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import { dayMs, hourMs, minuteMs } from '../../platform/clock.ts';
import { erasureWorkKey, readErasureWork } from '../../platform/erasure/erasure-record.ts';
import type { RetainedWork } from '../../platform/erasure/retained-work.ts';
import { writersHoldSubject } from '../../platform/ledger/writers-hold.ts';
import { createLog } from '../../platform/log.ts';
import { retainedFromMs } from '../../platform/retained/retained-from.ts';
import { checkTables } from '../../sql/check/compare-tables.ts';
import { createDraw } from '../../test/harness/insights/random.ts';
import { asks, withoutRetention } from '../../test/harness/retained/retained-questions.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { type StoredRow, storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';
import { deathsTimeoutMs, everySteps, Mortal } from '../../test/harness/turns/mortal.ts';
import { type RetainedParts, takeRetainedTurn } from './take-retained-turn.ts';

const broker = useBroker();
const engine = useEngine();
const log = createLog('silent');
const retentionDays = 30;
const startMs = Date.UTC(2026, 10, 20, 9, 30);
const boundaryMs = Date.UTC(2026, 9, 21);
const keeping = new Set<string>();
let nowMs = startMs;
let nats: NatsConnection;
let clickhouse: DatabaseClient;
let ledgers: KV;
let created: string;
let service: ReadService;
let version = 0;
let seq = 1;

beforeAll(async () => {
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 4 });
  ledgers = await nats.jetstream().views.kv(buckets.ledger, { bindOnly: true });
  created = (await (await nats.jetstreamManager()).streams.info(eventsStream(0))).created;
  await writeMark();
  service = await startReadService({
    ...{ clickhouseUrl: engine.url, clock: { nowMs: () => nowMs } },
    retainedFrom: (id) => (keeping.has(id) ? retainedFromMs(retentionDays, nowMs) : undefined),
    completeUntilMs: async () => nowMs,
  });
});
afterAll(async () => {
  await service.stop();
  await clickhouse.close();
  await nats.close();
});

/** Visits of few persons in sixty days, some across the boundary, of a project that is named later. */
function drawnRows(seed: number, visits: number): StoredRow[] {
  const draw = createDraw(seed);
  return Array.from({ length: visits }, (_, at) => {
    const cookieless = draw.chance(0.15);
    const person = draw.chance(0.3) ? `anon-${draw.below(8)}` : `user-${draw.below(12)}`;
    const visit = {
      ...{ projectId: '', cookieless, sessionId: draw.uuid() },
      distinctId: cookieless ? `day-${draw.below(9)}` : person,
      columns: {
        ...{ browser: draw.pick(['Chrome', 'Firefox']), country: draw.pick(['DE', 'FR']) },
        pathname: `/${draw.below(4)}`,
      },
    };
    const aroundMs = boundaryMs + (draw.below(40) - 30) * minuteMs;
    const anyMs = startMs - draw.below(60 * 24) * hourMs - hourMs;
    const firstMs = at % 9 === 0 ? aroundMs : anyMs;
    return Array.from({ length: 1 + draw.below(6) }, (_, n) =>
      storedRow({
        ...{ ...visit, eventId: draw.uuid(), occurTimeMs: firstMs + n * draw.below(9) * minuteMs },
        kind: n === 0 ? 'page_view' : draw.pick(['page_view', 'cart', 'buy']),
        strings: { plan: draw.pick(['free', 'pro']), ...(firstMs < boundaryMs && { old: 'yes' }) },
        doubles: { price: draw.below(400) / 4, revenue: draw.below(90) },
      }),
    );
  }).flat();
}

/** All messages up to `seq` are rows. */
async function writeMark(): Promise<void> {
  const mark = { schemaVersion: 1, streamCreated: created, hwm: seq };
  await ledgers.put(eventsLedgerKey(0), JSON.stringify(mark));
}

/** Events of one batch, behind all others in the shard's stream: [distinct id, time of the event]. */
async function storeMore(projectId: string, events: readonly (readonly [string, number])[]) {
  seq += 1;
  const values = events.map(
    ([distinctId, ms]) =>
      `('${projectId}', '${randomUUID()}', 'page_view', '${distinctId}', '${randomUUID()}',
        fromUnixTimestamp64Milli(${ms}), now64(3), 0, ${seq})`,
  );
  await clickhouse.command({
    query: `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, occur_time, receive_time, shard,
      stream_seq) VALUES ${values.join(', ')}`,
    clickhouse_settings: { insert_deduplication_token: `batch ${seq}` },
  });
  await writeMark();
}

/** A project of these rows, with some merged ids and traits. */
async function play(rows: readonly StoredRow[]): Promise<string> {
  const projectId = randomUUID();
  version += 1;
  await storeProfiles(
    clickhouse,
    [
      ...Array.from({ length: 10 }, (_, n) => ({
        ...{ projectId, distinctId: `user-${n}`, traits: { tier: n % 3 ? 'plain' : 'gold' } },
        ...{ createTimeMs: boundaryMs - dayMs, updateTimeMs: boundaryMs - dayMs },
      })),
      ...Array.from({ length: 4 }, (_, n) => ({
        ...{ projectId, distinctId: `anon-${n}`, named: false, wasClaimed: true },
        ...{ owner: `user-${n}`, root: `user-${n}` },
      })),
    ],
    String(version),
  );
  await storeRows(
    clickhouse,
    rows.map((row) => ({ ...row, projectId })),
  );
  return projectId;
}

const young = (rows: readonly StoredRow[]): StoredRow[] =>
  rows.filter(({ occurTimeMs }) => occurTimeMs >= boundaryMs);

const pass = <A extends unknown[], R>(work: (...args: A) => Promise<R>) => work;

/** What a process works with; each call that changes something is a step. */
async function partsOf(
  projectId: string,
  step: Mortal['step'] = pass,
  more: Partial<RetainedParts> = {},
): Promise<RetainedParts> {
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
    work: { get: work.get, create: step(work.create), update: step(work.update) },
    projects: () => [[projectId, { retentionDays }]],
    hasErasure: () => false,
    lookedAtMs: new Map(),
    ...more,
  };
}

async function current(): Promise<RetainedWork | undefined> {
  const bucket = await openBucket(nats, buckets.instance, readErasureWork);
  const found = await bucket.get(erasureWorkKey);
  return found.kind === 'found' ? found.record.retained : undefined;
}

/** Takes turns until no piece is under way and `isDone`; by count, not by time. */
async function takeTurns(parts: RetainedParts, isDone: () => boolean): Promise<void> {
  for (let turns = 0; turns < 10_000; turns++) {
    nowMs = Math.max(nowMs + 1, await takeRetainedTurn(parts));
    if ((await current()) === undefined && isDone()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the work does not end');
}

/** Until nothing is left to do. */
const work = (parts: RetainedParts): Promise<void> =>
  takeTurns(parts, () => parts.lookedAtMs.size > 0);

async function rowsOf(sql: string): Promise<unknown[][]> {
  const result = await clickhouse.query({ query: sql, format: 'JSONCompactEachRow' });
  return result.json<unknown[]>();
}

async function expectSums(): Promise<void> {
  for await (const { table, differences } of checkTables(clickhouse, async () => {})) {
    expect(differences, table).toEqual([]);
  }
}

/** Times of records, and of the newest receipt; 1970 is none. */
const otherTimes = /^(profiles|profiles_by_\w+)\.|\.last_received$|^webhook_attempts\./;

/** The columns that have a moment of the project from before the boundary. */
async function olderColumns(projectId: string): Promise<string[]> {
  const columns = await rowsOf(
    `SELECT table, name FROM system.columns WHERE database = currentDatabase() AND match(type, '^(SimpleAggregateFunction\\(\\w+, )?Date')
      AND table IN (SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'project_id')
      AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')`,
  );
  const found: string[] = [];
  for (const [table, name] of columns) {
    if (otherTimes.test(`${table}.${name}`)) continue;
    const [[count] = []] = await rowsOf(
      `SELECT count() FROM ${table} WHERE project_id = '${projectId}' AND ${name} < fromUnixTimestamp64Milli(${boundaryMs})
        AND ${name} > toDate('1970-01-02')`,
    );
    if (Number(count) > 0) found.push(`${table}.${name}`);
  }
  expect(columns.length).toBeGreaterThan(10);
  return found;
}

/** What every reader is answered. `isWorked`: also what depends on sums of all events of a profile. */
async function answersOf(projectId: string, isWorked: boolean): Promise<Map<string, unknown>> {
  const answers = new Map<string, unknown>();
  for (const { name, method, body, ofProfiles = false } of asks(boundaryMs, startMs)) {
    if (ofProfiles && !isWorked) continue;
    const { status, text } = await service.post(projectId, method, body);
    expect(status, `${name}: ${text}`).toBe(200);
    answers.set(name, withoutRetention(JSON.parse(text), projectId));
  }
  return answers;
}

it('answers as a project that never had older events, before the work and after it', async () => {
  const rows = drawnRows(7, 120);
  const whole = await play(rows);
  const other = await play(young(rows));
  const all = await play(rows);
  keeping.add(whole);
  const wanted = await answersOf(other, true);
  const before = await answersOf(whole, false);
  for (const [name, answer] of before) expect(answer, name).toEqual(wanted.get(name));
  expect(await olderColumns(whole)).toContain('events.occur_time');
  await work(await partsOf(whole));
  expect(await olderColumns(whole)).toEqual([]);
  // A reader without the filter finds no more.
  keeping.delete(whole);
  const after = await answersOf(whole, true);
  for (const [name, answer] of after) expect(answer, name).toEqual(wanted.get(name));
  expect(after.size).toBe(wanted.size);
  const sums = (id: string) =>
    rowsOf(`SELECT count(), uniqExact(distinct_id) FROM events WHERE project_id = '${id}'`);
  expect(await sums(whole)).toEqual(await sums(other));
  expect((await sums(all))[0]?.[0]).toBe(String(rows.length));
  await expectSums();
});

it('says from when on events are counted, where the range begins earlier', async () => {
  const projectId = await play(drawnRows(3, 20));
  keeping.add(projectId);
  const ask = async (fromMs: number) => {
    const { leftOut } = await service.insights(projectId).query({
      spec: { insightType: 2, events: [{ event: { kind: 'page_view' } }] },
      timeRange: {
        from: { seconds: BigInt(fromMs / 1_000) },
        to: { seconds: BigInt(startMs / 1_000) },
      },
    });
    return leftOut.map(({ before }) => Number(before?.seconds ?? 0) * 1_000);
  };
  expect(await ask(boundaryMs - minuteMs)).toEqual([boundaryMs]);
  expect(await ask(boundaryMs)).toEqual([]);
  keeping.delete(projectId);
  expect(await ask(boundaryMs - minuteMs)).toEqual([]);
});

it('takes some days at a time, and leaves erasures the first place between two pieces', async () => {
  const projectId = await play(drawnRows(5, 60));
  let hasErasure = true;
  const bounds = { maxEvents: 20, eventsAtOnce: 7 };
  const parts = await partsOf(projectId, pass, { ...bounds, hasErasure: () => hasErasure });
  await takeRetainedTurn(parts);
  expect(await current()).toBeUndefined();
  hasErasure = false;
  await takeRetainedTurn(parts);
  hasErasure = true;
  const first = await current();
  const firstMs = first?.projects[0]?.beforeMs ?? Number.POSITIVE_INFINITY;
  expect(firstMs).toBeLessThan(boundaryMs);
  await takeTurns(parts, () => true);
  const [[oldest] = []] = await rowsOf(
    `SELECT toUnixTimestamp64Milli(min(occur_time)) FROM events WHERE project_id = '${projectId}'`,
  );
  expect(Number(oldest)).toBeGreaterThanOrEqual(firstMs);
  expect(Number(oldest)).toBeLessThan(boundaryMs);
  hasErasure = false;
  await work(parts);
  expect(await olderColumns(projectId)).toEqual([]);
  await expectSums();
});

it('takes as many deletions for many projects as for one', async () => {
  const rows = drawnRows(13, 12);
  const deletionsFor = async (count: number, more: Partial<RetainedParts> = {}) => {
    const ids = await Promise.all(Array.from({ length: count }, () => play(rows)));
    // A step that is taken again says the same. What drops empty sums says their hashes, where there are any.
    const deletions = new Set<string>();
    const command: DatabaseClient['command'] = (asked) => {
      const isDeletion = asked.query.startsWith('ALTER TABLE') && !asked.query.includes('sipHash');
      if (isDeletion) deletions.add(asked.query);
      return clickhouse.command(asked);
    };
    const parts = await partsOf('', pass, {
      clickhouse: oneGroup({ query: clickhouse.query.bind(clickhouse), command }),
      // Those that keep fewer days have another boundary.
      projects: () =>
        ids.map((id, at) => [id, { retentionDays: retentionDays - (at % 3) }] as const),
      ...more,
    });
    await takeTurns(parts, () => parts.lookedAtMs.size === count);
    for (const id of ids) expect(await olderColumns(id)).toEqual([]);
    return deletions.size;
  };
  const ofOne = await deletionsFor(1);
  expect(ofOne).toBeGreaterThan(10);
  expect(await deletionsFor(6)).toBe(ofOne);
  expect(await deletionsFor(6, { maxProjects: 3 })).toBe(2 * ofOne);
  expect(await deletionsFor(2, { maxStored: 1 })).toBe(2 * ofOne);
  await expectSums();
});

const everyStep = everySteps(11);

it(
  'goes on after a death between its steps, whether the last one was done or not',
  async () => {
    const counting = new Mortal(Number.POSITIVE_INFINITY, false);
    const rows = drawnRows(11, 12);
    await work(await partsOf(await play(rows), counting.step.bind(counting)));
    expect(counting.calls).toBeGreaterThan(20);
    for (let dieAt = 1; dieAt <= counting.calls; dieAt += everyStep) {
      const projectId = await play(rows);
      const mortal = new Mortal(dieAt, dieAt % 2 === 0);
      const dying = work(await partsOf(projectId, mortal.step.bind(mortal)));
      await Promise.race([dying, mortal.died]);
      // Somebody goes on meanwhile, and one event comes late.
      await storeMore(projectId, [
        ['user-1', nowMs - minuteMs],
        ['user-2', boundaryMs - dayMs],
      ]);
      nowMs += 100_000;
      await work(await partsOf(projectId));
      expect(await olderColumns(projectId), `step ${dieAt}`).toEqual([]);
      const [[left] = []] = await rowsOf(
        `SELECT count() FROM events WHERE project_id = '${projectId}'`,
      );
      expect(Number(left), `step ${dieAt}`).toBe(young(rows).length + 1);
    }
    await expectSums();
  },
  deathsTimeoutMs,
);
