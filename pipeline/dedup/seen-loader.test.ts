// The seen-set together with the tables of a real engine: loading at the start, and duplicates that only event_ids
// knows.

import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { IdTable } from '../build/batch-ids.ts';
import { EventKeys } from '../build/event-key.ts';
import { Repeats } from '../build/repeats.ts';
import { SessionlessTable } from '../build/sessionless-rows.ts';
import type { BatchIds } from '../build/thread-messages.ts';
import { parseUuid } from '../build/uuid.ts';
import { DuplicateCheck } from './duplicate-check.ts';
import { findStored, storeIds } from './event-ids.ts';
import { SeenLoader } from './seen-loader.ts';
import { minSeenBytes, SeenSet } from './seen-set.ts';
import { findUnloaded } from './unloaded-ids.ts';

const hourMs = 3_600_000;
const nowMs = Date.UTC(2026, 10, 20, 12);
const eventKeys = new EventKeys(randomBytes(32));
const engine = useEngine();
let clickhouse: DatabaseClient;

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 2 });
});

afterAll(async () => {
  await clickhouse.close();
});

beforeEach(async () => {
  for (const table of ['events', 'event_ids', 'event_ids_reach']) {
    await clickhouse.command({ query: `TRUNCATE TABLE ${table}` });
  }
});

interface Row {
  project?: string;
  id?: string;
  receivedHoursAgo?: number;
  shard?: number;
  occurTimeMs?: number;
  seq?: number;
}

async function store(rows: readonly Row[]): Promise<string[]> {
  const values = rows.map((row) => ({
    project_id: row.project ?? 'p',
    event_id: row.id ?? randomUUID(),
    kind: 'k',
    distinct_id: 'v',
    session_id: randomUUID(),
    occur_time: row.occurTimeMs ?? nowMs,
    receive_time: nowMs - (row.receivedHoursAgo ?? 1) * hourMs,
    shard: row.shard ?? 0,
    stream_seq: row.seq ?? 1,
  }));
  await clickhouse.insert({ table: 'events', values, format: 'JSONEachRow' });
  return values.map(({ event_id }) => event_id);
}

function batchOf(
  events: readonly { project?: string; id: string; occurTimeMs?: number }[],
): BatchIds {
  const table = new IdTable(eventKeys);
  const words = new Uint32Array(4);
  for (const { project = 'p', id, occurTimeMs = nowMs } of events) {
    table.beginRequest(project, nowMs);
    parseUuid(id, words);
    table.add(words, occurTimeMs);
  }
  return {
    ...table.snapshot(),
    firstSeq: 1,
    lastSeq: 1,
    repeats: new Repeats().snapshot(),
    sessionless: new SessionlessTable().snapshot(),
  };
}

const source = { shard: 0, streamCreatedMs: nowMs - 100 * hourMs };

type Engine = Pick<DatabaseClient, 'query' | 'exec' | 'command'>;

interface Start {
  shard?: number;
  hwm?: number | undefined;
  /** The engine as the loading meets it. */
  through?: Engine;
  signal?: AbortSignal;
}

/** A start of the writer, whose loading has begun. */
function open({ shard = 0, hwm, through = clickhouse, signal = neverAborted }: Start = {}) {
  const seen = new SeenSet(minSeenBytes);
  const loader = new SeenLoader({
    ...{ clickhouse: through, seen, eventKeys, nowMs, hwm, signal },
    source: { ...source, shard },
    untilAnswered: (call) => call(),
  });
  const loaded = loader.run();
  const duplicates = new DuplicateCheck({
    completeTo: () => Number.POSITIVE_INFINITY,
    ...{ seen, loaded, clock: { nowMs: () => nowMs } },
    findStored: (batch, rows) => loader.findStored(batch, rows),
    storeIds: (span, reach) => storeIds(clickhouse, source, span, reach),
  });
  return { seen, loader, loaded, duplicates };
}

const neverAborted = new AbortController().signal;

/** A start whose loading is done. */
async function load(start: Start = {}) {
  const { loaded, ...started } = open(start);
  return { ...started, loaded: await loaded };
}

/** The rows of a batch that the duplicate check drops. */
async function dropped(duplicates: DuplicateCheck, ids: BatchIds): Promise<number[]> {
  const { dropped: bits } = await duplicates.check(ids);
  return Array.from({ length: ids.rows }, (_, row) => row).filter(
    (row) => ((bits?.[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0,
  );
}

describe('loading', () => {
  it('loads exactly the ids that were stored in the window', async () => {
    const rows = Array.from({ length: 2_000 }, (_, n) => ({
      project: `project ${n % 3} ${'ü'.repeat(n % 50)}`,
      receivedHoursAgo: (n % 47) + 0.5,
    }));
    const ids = await store(rows);
    const { duplicates, loaded } = await load();
    expect(loaded).toBe(2_000);
    const known = ids.map((id, n) => ({ id, project: rows[n]?.project ?? '' }));
    const others = ids.map((id) => ({ id, project: 'another' }));
    expect(await dropped(duplicates, batchOf([...known, ...others]))).toEqual(
      known.map((_, n) => n),
    );
  });

  it('leaves out ids of another shard and ids older than the window', async () => {
    await store([{}, { receivedHoursAgo: 31 }, { receivedHoursAgo: -1 }]);
    await store([{ shard: 1 }, { receivedHoursAgo: 60 }, { shard: 1, receivedHoursAgo: 60 }]);
    expect((await load()).loaded).toBe(3);
    expect((await load({ shard: 1 })).loaded).toBe(1);
  });

  it('loads nothing from an empty table', async () => {
    expect((await load()).loaded).toBe(0);
  });

  it('beyond the budget reads the newest ids, and the table answers for the others', async () => {
    await storeNumbered(0, 300_000, 20);
    const [fresh = '', stale = ''] = await store([
      { receivedHoursAgo: 1, seq: 900 },
      { receivedHoursAgo: 20, seq: 2 },
    ]);
    const { seen, duplicates, loaded } = await load({ hwm: 1_000 });
    // The newest ids as far as they fit, and of the older ones only the stale event, which occurred later than
    // received.
    expect(loaded).toBeGreaterThan(seen.capacity / 2);
    expect(loaded).toBeLessThanOrEqual(seen.capacity + 1);
    const known = [0, 149_999, 299_999].map((n) => ({
      id: numbered(n),
      occurTimeMs: timeOf(n, 20),
    }));
    const ids = batchOf([{ id: fresh }, { id: stale }, { id: randomUUID() }, ...known]);
    expect(await dropped(duplicates, ids)).toEqual([0, 1, 3, 4, 5]);
    // The next start finds the older ones in event_ids, so it does not put them there again.
    const before = await count('event_ids');
    expect((await load({ hwm: 1_000 })).loaded).toBeGreaterThan(seen.capacity / 2);
    expect(await count('event_ids')).toBe(before);
  });

  it('loads rows after the mark too: a ledger may have lost its latest steps', async () => {
    const [, , last = '', old = ''] = await store([
      { seq: 7 },
      { seq: 8 },
      { seq: 9 },
      { seq: 9, receivedHoursAgo: 30 },
    ]);
    const { loaded, duplicates } = await load({ hwm: 8 });
    expect(loaded).toBe(4);
    expect(await dropped(duplicates, batchOf([{ id: last }, { id: old }]))).toEqual([0, 1]);
    expect((await load({ hwm: undefined })).loaded).toBe(4);
  });

  it('finds ids in the table and in the set after the next start', async () => {
    await storeNumbered(0, 150_000, 30);
    const { duplicates: first } = await load();
    // Each batch is stored before the next but one is checked: the writer keeps that order too.
    for (let from = 150_000; from < 600_000; from += 50_000) {
      const batch = numberedBatch(from, 50_000, 10);
      expect((await first.check(batch)).dropped).toBeUndefined();
      await storeNumbered(from, 50_000, 10);
    }
    expect(await count('event_ids_reach')).toBeGreaterThan(1);
    const repeats = [0, 149_999, 150_000, 300_000, 450_000, 599_999].map((n) => ({
      id: numbered(n),
      occurTimeMs: timeOf(n, n < 150_000 ? 30 : 10),
    }));
    const ids = batchOf([...repeats, { id: randomUUID(), occurTimeMs: at(10) }]);
    const all = repeats.map((_, row) => row);
    const { seen, duplicates, loaded } = await load();
    expect(loaded).toBeLessThanOrEqual(seen.capacity);
    expect(loaded).toBeGreaterThan(seen.capacity / 2);
    expect(await dropped(duplicates, ids)).toEqual(all);
    expect((await count('event_ids')) + loaded).toBeGreaterThanOrEqual(600_000);
  });
});

describe('while ids load', () => {
  it('every repetition is found and every new event is taken, however far the loading is', async () => {
    const stored = await store([
      ...Array.from({ length: 4 }, () => ({ receivedHoursAgo: 1, seq: 9 })),
      ...Array.from({ length: 4 }, () => ({ receivedHoursAgo: 20, seq: 5 })),
      ...Array.from({ length: 4 }, () => ({ receivedHoursAgo: 30, seq: 2 })),
    ]);
    // The oldest have left an earlier writer's memory.
    await storeIds(clickhouse, source, { ...everything, lastSeq: 2 }, 2);
    const parts = new Steps();
    const started = open({ hwm: 9, through: parts.engine });
    for (let step = 0; step < 4; step++) {
      const repeats = [stored[step], stored[4 + step], stored[8 + step]].map((id = '') => ({ id }));
      const ids = batchOf([...repeats, { id: randomUUID() }, ...repeats.map(inOtherProject)]);
      expect(await dropped(started.duplicates, ids)).toEqual([0, 1, 2]);
      // All of them are known now.
      expect(await dropped(started.duplicates, ids)).toEqual([0, 1, 2, 3, 4, 5, 6]);
      // Two parts, of the newest and the older events, and events to come.
      if (step < 3) await parts.next();
    }
    expect(await started.loaded).toBe(8);
    expect(started.seen.isLoading).toBe(false);
  });

  it('a repetition is found by its id alone, as later by the set', async () => {
    const [stored = ''] = await store([{ receivedHoursAgo: 1, occurTimeMs: at(1) }]);
    const parts = new Steps();
    const { duplicates, loaded } = open({ through: parts.engine });
    expect(await dropped(duplicates, batchOf([{ id: stored, occurTimeMs: nowMs }]))).toEqual([0]);
    await parts.end();
    await loaded;
  });

  it('the newest are known first, and are not looked up from then on', async () => {
    const [newest = '', older = ''] = await store([
      { receivedHoursAgo: 1 },
      { receivedHoursAgo: 20 },
    ]);
    const parts = new Steps();
    const { seen, loaded } = open({ through: parts.engine });
    await parts.next();
    await parts.arrived();
    const known = seen.check(batchOf([{ id: newest }, { id: older }]), nowMs);
    expect(known).toEqual({ stored: [0], maybe: [1] });
    await parts.end();
    await loaded;
  });

  it('the end of the writer ends the loading', async () => {
    await store([{}]);
    const parts = new Steps();
    const ended = new AbortController();
    const { loaded } = open({ through: parts.engine, signal: ended.signal });
    const rejected = expect(loaded).rejects.toThrow('the writer has ended');
    await parts.arrived();
    ended.abort(new Error('the writer has ended'));
    await parts.end();
    await rejected;
  });
});

/** An engine that answers reads of stored ids one at a time, when it is told to. */
class Steps {
  readonly engine: Engine = {
    query: (params) => clickhouse.query(params),
    command: (params) => clickhouse.command(params),
    exec: async (params: Parameters<Engine['exec']>[0]) => {
      if (!this.#isOpen) await new Promise<void>((go) => this.#arrive(go));
      params.abort_signal?.throwIfAborted();
      return clickhouse.exec(params);
    },
  };
  readonly #waiting: (() => void)[] = [];
  #onArrival: (() => void) | undefined;
  #isOpen = false;

  /** Resolves once a read waits. */
  async arrived(): Promise<void> {
    if (this.#waiting.length > 0) return;
    await new Promise<void>((resolve) => {
      this.#onArrival = resolve;
    });
  }

  /** Lets the next read go. */
  async next(): Promise<void> {
    await this.arrived();
    this.#waiting.shift()?.();
  }

  /** Lets all reads go. */
  async end(): Promise<void> {
    await this.next();
    this.#isOpen = true;
  }

  #arrive(go: () => void): void {
    this.#waiting.push(go);
    this.#onArrival?.();
  }
}

function inOtherProject({ id }: { id: string }): { id: string; project: string } {
  return { id, project: 'another' };
}

describe('looking up', () => {
  it('finds stored ids, per project, in any number', async () => {
    const rows = Array.from({ length: 9_000 }, (_, n) => ({ project: `p${n % 2}` }));
    const ids = await store(rows);
    await storeIds(clickhouse, source, everything, 1);
    const events = ids.map((id, n) => ({ id, project: `p${n % 4}` }));
    const batch = batchOf(events);
    const asked = events.map((_, n) => n).filter((n) => n % 3 !== 0);
    const expected = asked.filter((n) => n % 4 < 2);
    expect((await findStored(clickhouse, batch, asked)).toSorted((a, b) => a - b)).toEqual(
      expected,
    );
  });

  it('finds the rows within the bounds of the stored span, and no others of the shard', async () => {
    const ids = await store([
      { seq: 4 },
      { seq: 5 },
      { seq: 9 },
      { seq: 10 },
      { seq: 5, receivedHoursAgo: 3 },
      { seq: 5, shard: 1 },
    ]);
    const span = { ...everything, firstSeq: 5, lastSeq: 9, minReceiveTimeMs: at(2) };
    await storeIds(clickhouse, source, span, 9);
    const batch = batchOf(ids.map((id) => ({ id })));
    const found = await findStored(clickhouse, batch, [0, 1, 2, 3, 4, 5]);
    expect(found.toSorted((a, b) => a - b)).toEqual([1, 2]);
  });

  it('copes with more projects than a URL should hold', async () => {
    const rows = Array.from({ length: 500 }, (_, n) => ({ project: `project ${n}` }));
    const ids = await store(rows);
    await storeIds(clickhouse, source, everything, 1);
    const events = ids.map((id, n) => ({ id, project: `project ${n - (n % 2)}` }));
    const found = await findStored(
      clickhouse,
      batchOf(events),
      events.map((_, n) => n),
    );
    expect(found.toSorted((a, b) => a - b)).toEqual(
      ids.map((_, n) => n).filter((n) => n % 2 === 0),
    );
  });

  it('scans the rows that no table of ids has once, for any number of projects', async () => {
    const rows = Array.from({ length: 500 }, (_, n) => ({ project: `project ${n}` }));
    const ids = await store(rows);
    const events = ids.map((id, n) => ({ id, project: `project ${n - (n % 2)}` }));
    let scans = 0;
    const counting: Pick<DatabaseClient, 'query'> = {
      query: (parameters) => {
        scans++;
        return clickhouse.query(parameters);
      },
    };
    const found = await findUnloaded(
      counting,
      { shard: 0, fromMs: at(48), toMs: nowMs + 1 },
      batchOf(events),
      events.map((_, n) => n),
    );
    expect(found.toSorted((a, b) => a - b)).toEqual(
      ids.map((_, n) => n).filter((n) => n % 2 === 0),
    );
    expect(scans).toBe(1);
  });
});

const everything = {
  firstSeq: 0,
  lastSeq: 1_000_000,
  minReceiveTimeMs: at(48),
  maxReceiveTimeMs: nowMs,
};

function at(hoursAgo: number): number {
  return nowMs - hoursAgo * hourMs;
}

function numbered(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

/** The time at which event `n` occurred and was received: a thousand events a second. */
function timeOf(n: number, hoursAgo: number): number {
  return at(hoursAgo) + Math.floor(n / 1_000) * 1_000;
}

/** Stores rows with the ids `numbered(from)` and on. */
async function storeNumbered(from: number, rows: number, hoursAgo: number): Promise<void> {
  await clickhouse.command({
    query: `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, occur_time, receive_time, shard, stream_seq)
      SELECT 'p', toUUID(concat('00000000-0000-4000-8000-', leftPad(toString(number), 12, '0'))), 'k', 'v',
        generateUUIDv4(), {time:DateTime64(3)} + toIntervalSecond(intDiv(number, 1000)) AS time, time, 0,
        2 + intDiv(number, 1000)
      FROM numbers({from:UInt64}, {rows:UInt64})`,
    query_params: { from, rows, time: new Date(at(hoursAgo)) },
  });
}

function numberedBatch(from: number, rows: number, hoursAgo: number): BatchIds {
  const events = Array.from({ length: rows }, (_, n) => ({
    id: numbered(from + n),
    occurTimeMs: timeOf(from + n, hoursAgo),
  }));
  return {
    ...batchOf(events),
    firstSeq: 2 + Math.floor(from / 1_000),
    lastSeq: 2 + Math.floor((from + rows - 1) / 1_000),
    minReceiveTimeMs: timeOf(from, hoursAgo),
    maxReceiveTimeMs: timeOf(from + rows - 1, hoursAgo),
  };
}

async function count(table: 'event_ids' | 'event_ids_reach'): Promise<number> {
  const result = await clickhouse.query({
    query: 'SELECT count() FROM {table:Identifier}',
    query_params: { table },
    format: 'JSONCompactEachRow',
  });
  const [[rows] = []] = await result.json<[unknown]>();
  return Number(rows);
}
