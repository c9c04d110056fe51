// The audit against a real engine's table.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { createMetrics, metricValue } from '../../platform/metrics.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { Repeats } from '../build/repeats.ts';
import { SessionlessTable } from '../build/sessionless-rows.ts';
import { createPipelineMetrics } from '../metrics.ts';
import { Audit } from './audit.ts';
import { openBooks } from './books.ts';
import type { Totals } from './ledger-record.ts';
import type { DoneBatch } from './writer.ts';

const engine = useEngine();
let clickhouse: DatabaseClient;

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 2 });
});

afterAll(async () => {
  await clickhouse.close();
});

const receiveTimeMs = Date.UTC(2026, 10, 20);

function batch(first: number, last: number, counts: Partial<Totals>): DoneBatch {
  const totals = { accepted: 0, stored: 0, duplicates: 0, deadLetters: 0, ...counts };
  return {
    pending: { seqs: [[first, last]], inserts: [], counts: totals },
    ids: {
      rows: totals.stored,
      keys: new Uint32Array(),
      eventIds: new Uint8Array(),
      projectOf: new Int32Array(),
      projects: [],
      occurTimesMs: new Float64Array(),
      firstSeq: first,
      lastSeq: last,
      minReceiveTimeMs: receiveTimeMs,
      maxReceiveTimeMs: receiveTimeMs + 5,
      repeats: new Repeats().snapshot(),
      sessionless: new SessionlessTable().snapshot(),
    },
    partitions: 1,
    deadLetters: [],
    totals,
    waitsMs: {},
  };
}

async function store(seqs: readonly number[], shard: number): Promise<void> {
  const values = seqs.map((seq) => ({
    project_id: 'p',
    event_id: randomUUID(),
    session_id: randomUUID(),
    occur_time: receiveTimeMs,
    receive_time: receiveTimeMs + 5,
    shard,
    stream_seq: seq,
  }));
  await clickhouse.insert({ table: 'events', values, format: 'JSONEachRow' });
}

function open(shard: number, query: DatabaseClient['query'] = (asked) => clickhouse.query(asked)) {
  const reported = { unaccounted: 0, differences: [] as number[] };
  const audit = new Audit({
    clickhouse: { query },
    shard,
    log: createLog('silent'),
    onUnaccounted: (events) => {
      reported.unaccounted += events;
    },
    onDifference: (rows) => reported.differences.push(rows),
  });
  return { audit, reported };
}

describe('batches that leave messages behind', () => {
  it('are counted by their own messages alone', async () => {
    const { audit, reported } = open(21);
    // 7 is of a batch that is being stored, or was recounted before.
    await store([5, 6, 7, 8, 9], 21);
    const first = batch(5, 8, { accepted: 3, stored: 3 });
    const seqs: [number, number][] = [
      [5, 6],
      [8, 8],
    ];
    audit.record({ ...first, pending: { ...first.pending, seqs } });
    await audit.recount();
    audit.record(batch(7, 7, { accepted: 1, stored: 1 }));
    audit.record(batch(9, 9, { accepted: 2, stored: 2 }));
    await audit.recount();
    expect(reported.differences).toEqual([0, -1]);
  });

  it('are counted in several statements where they are in very many pieces', async () => {
    const { audit, reported } = open(22);
    const seqs = Array.from({ length: 2_500 }, (_, n): [number, number] => [2 * n + 1, 2 * n + 1]);
    await store(
      seqs.map(([seq]) => seq),
      22,
    );
    await store([2, 4_998], 22);
    const whole = batch(1, 4_999, { accepted: 2_500, stored: 2_500 });
    audit.record({ ...whole, pending: { ...whole.pending, seqs } });
    await audit.recount();
    expect(reported.differences).toEqual([0]);
  });
});

describe('the audit', () => {
  it('reports no difference where the table agrees with the books', async () => {
    const { audit, reported } = open(1);
    await store([5, 5, 6, 8, 4, 9], 1);
    audit.record(batch(5, 6, { accepted: 6, stored: 3, duplicates: 2, deadLetters: 1 }));
    audit.record(batch(7, 8, { accepted: 1, stored: 1 }));
    await audit.recount();
    await audit.recount();
    expect(reported).toEqual({ unaccounted: 0, differences: [0] });
  });

  it('reports how many rows are missing or too many', async () => {
    const { audit, reported } = open(2);
    await store([1, 2, 3], 2);
    audit.record(batch(1, 2, { accepted: 5, stored: 5 }));
    await audit.recount();
    audit.record(batch(3, 3, { accepted: 0, stored: 0 }));
    audit.record(batch(3, 3, { accepted: 1, stored: 1 }));
    await store([3], 2);
    await audit.recount();
    expect(reported).toEqual({ unaccounted: 0, differences: [-3, 1] });
  });

  it('recounts the batches of a recount that failed, with those that came meanwhile', async () => {
    let isGone = true;
    const { audit, reported } = open(4, (asked) =>
      isGone ? Promise.reject(new Error('the engine is gone')) : clickhouse.query(asked),
    );
    await store([1, 2, 3, 4], 4);
    audit.record(batch(1, 2, { accepted: 3, stored: 3 }));
    await expect(audit.recount()).rejects.toThrow('the engine is gone');
    audit.record(batch(3, 4, { accepted: 2, stored: 2 }));
    isGone = false;
    await audit.recount();
    await audit.recount();
    expect(reported.differences).toEqual([-1]);
  });

  it('is made every half minute, and its differences add up in the metrics', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    const metrics = createMetrics();
    const log = createLog('silent');
    const clock = { nowMs: () => receiveTimeMs };
    const parts = { clickhouse, shard: 5, clock, log, metrics: createPipelineMetrics(metrics) };
    const books = openBooks({ ...parts, seenBytes: () => 0 });
    const different = (kind: string) => {
      const name = 'millrace_pipeline_audit_different_rows_total';
      return metricValue(metrics, name, { shard: '5', kind });
    };
    await store([1, 3, 4, 4], 5);
    for (const [seq, stored, missing, surplus] of [
      [1, 3, 2, 0],
      [3, 1, 2, 0],
      [4, 1, 2, 1],
    ] as const) {
      books.record(batch(seq, seq, { accepted: stored, stored }));
      vi.advanceTimersByTime(30_000);
      await expect.poll(() => different('missing')).toBe(missing);
      await expect.poll(() => different('surplus')).toBe(surplus);
    }
    books.close();
    vi.useRealTimers();
  });

  it('reports how many events of a batch are unaccounted for, in either direction', () => {
    const { audit, reported } = open(3);
    audit.record(batch(1, 1, { accepted: 5, stored: 1, duplicates: 1, deadLetters: 1 }));
    audit.record(batch(2, 2, { accepted: 0, deadLetters: 3 }));
    expect(reported.unaccounted).toBe(5);
  });
});

// The last one: a deletion explains what is missing in all batches that came before it.
it('reports no rows as missing that a deletion may have taken', async () => {
  const { audit, reported } = open(31);
  await store([1, 2, 3], 31);
  const query = 'ALTER TABLE events DELETE WHERE shard = 31 AND stream_seq = 2';
  await clickhouse.command({ query, clickhouse_settings: { mutations_sync: '1' } });
  audit.record(batch(1, 3, { accepted: 3, stored: 3 }));
  await audit.recount();
  expect(reported.differences).toEqual([]);
  await store([4, 4], 31);
  audit.record(batch(4, 4, { accepted: 1, stored: 1 }));
  await audit.recount();
  expect(reported.differences).toEqual([1]);
});
