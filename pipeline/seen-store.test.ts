import { randomBytes, randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClickHouse } from '../platform/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { startEngine, type TestEngine } from '../test/engine.ts';
import { EventKeys } from './event-key.ts';
import { IdTable } from './id-table.ts';
import { Judge } from './judge.ts';
import { minSeenBytes, SeenSet } from './seen-set.ts';
import { findStored, loadSeen } from './seen-store.ts';
import { SessionRows } from './session-rows.ts';
import type { BatchIds } from './thread-messages.ts';
import { parseUuid } from './uuid.ts';

const hourMs = 3_600_000;
const nowMs = Date.UTC(2026, 10, 20, 12);
const eventKeys = new EventKeys(randomBytes(32));
let engine: TestEngine;
let clickhouse: ClickHouseClient;

beforeAll(async () => {
  engine = await startEngine();
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 2 });
});

afterAll(async () => {
  await clickhouse.close();
  await engine.stop();
});

beforeEach(() => clickhouse.command({ query: 'TRUNCATE TABLE events' }));

interface Row {
  project?: string;
  id?: string;
  receivedHoursAgo?: number;
  shard?: number;
  occurTimeMs?: number;
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
    stream_seq: 1,
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
    expect(parseUuid(id, words)).toBe(true);
    table.add(words, occurTimeMs);
  }
  return { ...table.snapshot(), sessionless: new SessionRows().snapshot() };
}

async function load(shard = 0) {
  const seen = new SeenSet(minSeenBytes);
  const loaded = await loadSeen(clickhouse, seen, eventKeys, { shard, nowMs });
  return { seen, loaded };
}

/** The rows of a batch that a set leaves out, with the table's help. */
async function dropped(seen: SeenSet, ids: BatchIds): Promise<number[]> {
  const judge = new Judge({
    seen,
    clock: { nowMs: () => nowMs },
    findStored: (batch, rows) => findStored(clickhouse, batch, rows),
  });
  const { dropped: bits } = await judge.judge(ids);
  return Array.from({ length: ids.rows }, (_, row) => row).filter(
    (row) => ((bits?.[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0,
  );
}

describe('loading', () => {
  it('brings back exactly the ids that were stored in the window', async () => {
    const rows = Array.from({ length: 2_000 }, (_, n) => ({
      project: `project ${n % 3} ${'ü'.repeat(n % 50)}`,
      receivedHoursAgo: (n % 47) + 0.5,
    }));
    const ids = await store(rows);
    const { seen, loaded } = await load();
    expect(loaded).toBe(2_000);
    const known = ids.map((id, n) => ({ id, project: rows[n]?.project ?? '' }));
    const others = ids.map((id) => ({ id, project: 'another' }));
    expect(await dropped(seen, batchOf([...known, ...others]))).toEqual(known.map((_, n) => n));
  });

  it('leaves out what another shard stored and what is older than the window', async () => {
    await store([{}, { receivedHoursAgo: 31 }, { receivedHoursAgo: -1 }]);
    await store([{ shard: 1 }, { receivedHoursAgo: 60 }, { shard: 1, receivedHoursAgo: 60 }]);
    expect((await load()).loaded).toBe(3);
    expect((await load(1)).loaded).toBe(1);
  });

  it('of an empty table loads nothing', async () => {
    expect((await load()).loaded).toBe(0);
  });

  it('beyond the budget reads the newest and has the table asked for the others', async () => {
    await clickhouse.command({
      query: `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, occur_time, receive_time, shard, stream_seq)
        SELECT 'p', generateUUIDv4(), 'k', 'v', generateUUIDv4(), {at:DateTime64(3)}, {at:DateTime64(3)}, 0, 1
        FROM numbers(600000)`,
      query_params: { at: new Date(nowMs - 20 * hourMs) },
    });
    const [fresh = '', stale = ''] = await store([
      { receivedHoursAgo: 1 },
      { receivedHoursAgo: 20 },
    ]);
    const { seen, loaded } = await load();
    expect(loaded).toBe(1);
    const ids = batchOf([{ id: fresh }, { id: stale }, { id: randomUUID() }]);
    expect(await dropped(seen, ids)).toEqual([0, 1]);
  });
});

describe('looking up', () => {
  it("finds what is stored, per project, within the batch's own time, in any number", async () => {
    const rows = Array.from({ length: 9_000 }, (_, n) => ({ project: `p${n % 2}` }));
    const ids = await store(rows);
    const events = ids.map((id, n) => ({ id, project: `p${n % 4}` }));
    const batch = batchOf(events);
    const asked = events.map((_, n) => n).filter((n) => n % 3 !== 0);
    const expected = asked.filter((n) => n % 4 < 2);
    expect((await findStored(clickhouse, batch, asked)).toSorted((a, b) => a - b)).toEqual(
      expected,
    );
  });

  it('does not find an event of another time: a retry repeats it', async () => {
    const [id = ''] = await store([{ occurTimeMs: nowMs - 1 }]);
    expect(await findStored(clickhouse, batchOf([{ id }]), [0])).toEqual([]);
    const wide = batchOf([{ id }, { id: randomUUID(), occurTimeMs: nowMs - 5 }]);
    expect(await findStored(clickhouse, wide, [0, 1])).toEqual([0]);
  });

  it('copes with more projects than a URL should hold', async () => {
    const rows = Array.from({ length: 500 }, (_, n) => ({ project: `project ${n}` }));
    const ids = await store(rows);
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
});
