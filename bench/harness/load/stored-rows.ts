// The number of events that can be queried, polled from the engine itself. Events of one shard are stored in the order
// of their acknowledgements, so the count tells when each of them became visible.

import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { runStatement } from '../engine/engine-statement.ts';
import type { TracedRequest } from './load.ts';

/** Returns the one number that the query answers. */
export async function queryNumber(
  engine: Pick<Stack, 'clickhouseUrl'>,
  sql: string,
): Promise<number> {
  return Number(await runStatement(engine, `${sql} FORMAT TabSeparated`));
}

export function countRows(stack: Stack): Promise<number> {
  return queryNumber(stack, 'SELECT count() FROM events');
}

export interface RowWatch {
  /** Waits until there are `rows`; returns the moment they were seen. Throws after `timeoutMs`. */
  until(rows: number, timeoutMs: number): Promise<number>;
  /** The moment that many rows were first seen, in milliseconds since the epoch. */
  seenAtMs(rows: number): number | undefined;
  stop(): Promise<void>;
}

/**
 * Counts every `everyMs`, events unless `sql` counts something else; a count is late by at most that and the query's
 * own time.
 */
export function watchRows(
  stack: Stack,
  everyMs: number,
  sql = 'SELECT count() FROM events',
): RowWatch {
  const samples: { atMs: number; rows: number }[] = [];
  let stopped = false;
  let failure: unknown;
  const loop = (async () => {
    while (!stopped) {
      const rows = await queryNumber(stack, sql);
      if (rows !== samples.at(-1)?.rows) samples.push({ atMs: Date.now(), rows });
      await delay(everyMs);
    }
  })().catch((error) => {
    failure = error;
  });
  const seenAtMs = (rows: number): number | undefined =>
    samples.find((sample) => sample.rows >= rows)?.atMs;
  return {
    seenAtMs,
    async until(rows, timeoutMs) {
      const deadlineMs = Date.now() + timeoutMs;
      for (;;) {
        const atMs = seenAtMs(rows);
        if (atMs !== undefined) return atMs;
        if (failure !== undefined) throw failure;
        if (Date.now() > deadlineMs) {
          const seen = samples.at(-1)?.rows ?? 0;
          throw new Error(`${seen} of ${rows} rows after ${timeoutMs} ms\n${stack.log()}`);
        }
        await delay(everyMs);
      }
    },
    async stop() {
      stopped = true;
      await loop;
    },
  };
}

/** Milliseconds from the moment each request was due until its last event was seen, ascending. */
export function visibleAfterMs(
  trace: readonly TracedRequest[],
  rowsBefore: number,
  watch: RowWatch,
): number[] {
  let rows = rowsBefore;
  const latencies = trace.map(([dueMs, , events]) => {
    rows += events;
    const seenMs = watch.seenAtMs(rows);
    if (seenMs === undefined) throw new Error(`row ${rows} was never seen`);
    return seenMs - dueMs;
  });
  return latencies.sort((a, b) => a - b);
}

/** A set of this many ids fits into the embedded engine's memory beside its other work. */
const rowsASlice = 2_000_000;

/** Distinct event ids, counted a share of them at a time. */
export async function countDistinctEvents(stack: Stack): Promise<number> {
  const slices = Math.ceil((await countRows(stack)) / rowsASlice) + 1;
  let distinct = 0;
  for (let slice = 0; slice < slices; slice++) {
    const ofSlice = `cityHash64(event_id) % ${slices} = ${slice}`;
    distinct += await queryNumber(stack, `SELECT uniqExact(event_id) FROM events WHERE ${ofSlice}`);
  }
  return distinct;
}
