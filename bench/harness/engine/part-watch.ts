// Watches the parts of `events` and the engine's merges while rows come in. The embedded engine lets nobody read the
// counters of its merges, and deletes the parts that were merged within a second: so the rows that merges wrote are
// those of the merged parts that were seen.

import { setTimeout as delay } from 'node:timers/promises';
import { retry } from '../../../platform/retry.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { runStatement } from './engine-statement.ts';

export interface Watched {
  /** Rows of `events` that merges wrote until now, those of running merges included. */
  rewrittenRows: number;
  /** Active parts of `events`, over all looks. */
  partsMean: number;
  partsMost: number;
  /** Seconds of all merges of `events`, and of all tables: where two run at once, both count. */
  eventsMergeSeconds: number;
  mergeSeconds: number;
  /** Bytes on the disk of active parts: of `events`, and of all tables. */
  eventsBytes: number;
  bytes: number;
  /** Bytes a row of the parts of `events` that came from inserts; NaN where none was seen. */
  freshBytesPerRow: number;
  /** Of those that merges wrote. */
  mergedBytesPerRow: number;
}

export interface PartWatch {
  /** Looks once more. */
  look(): Promise<Watched>;
  stop(): Promise<void>;
}

// A merged part is there until a merge with it ends: for longer than this, where each insert has many rows.
const everyMs = 1_000;

const partsSql = `SELECT table, name, level, rows, bytes_on_disk FROM system.parts
  WHERE database = currentDatabase() AND active FORMAT TabSeparated`;
const mergesSql = `SELECT table, result_part_name, rows_written FROM system.merges
  WHERE database = currentDatabase() FORMAT TabSeparated`;

/** Of a look that finds no memory beside inserts and merges. */
const tries = { most: 20, baseMs: 100, capMs: 1_000 };

interface Look {
  /** Rows that running merges of `events` have written. */
  runningRows: number;
  eventsBytes: number;
  bytes: number;
}

interface Sizes {
  rows: number;
  bytes: number;
}

/** Looks once a second, for some ten milliseconds of the engine's CPU. */
export function watchParts(engine: Pick<Stack, 'clickhouseUrl'>): PartWatch {
  const seen = { fresh: new Map<string, Sizes>(), merged: new Map<string, Sizes>() };
  const sums = { looks: 0, parts: 0, partsMost: 0, eventsMergeSeconds: 0, mergeSeconds: 0 };
  let lookedMs = performance.now();
  let looking: Promise<unknown> = Promise.resolve();
  let failure: unknown;
  let isStopped = false;

  const lookOnce = async (): Promise<Look> => {
    const merges = await readRows(engine, mergesSql);
    const allParts = await readRows(engine, partsSql);
    const parts = allParts.filter(isOfEvents);
    for (const [_, name = '', level, rows, bytes] of parts) {
      const kind = level === '0' ? seen.fresh : seen.merged;
      kind.set(name, { rows: Number(rows), bytes: Number(bytes) });
    }
    const ofEvents = merges.filter(isOfEvents);
    const seconds = (performance.now() - lookedMs) / 1_000;
    lookedMs += 1_000 * seconds;
    sums.looks++;
    sums.parts += parts.length;
    sums.partsMost = Math.max(sums.partsMost, parts.length);
    sums.eventsMergeSeconds += ofEvents.length * seconds;
    sums.mergeSeconds += merges.length * seconds;
    // A merge that ended between both statements has its part by now.
    const running = ofEvents.filter(([_, part = '']) => !seen.merged.has(part));
    return {
      runningRows: sumOf(running.map(([_table, _part, written]) => written)),
      eventsBytes: sumOf(parts.map(bytesOf)),
      bytes: sumOf(allParts.map(bytesOf)),
    };
  };
  // One after the other: each look stands for the time since the look before it.
  const lookNext = (): Promise<Look> => {
    const next = looking.then(lookOnce);
    looking = next;
    return next;
  };
  const loop = (async () => {
    while (!isStopped) {
      await lookNext();
      await delay(everyMs);
    }
  })().catch((error) => {
    failure = error;
  });
  return {
    async look() {
      if (failure !== undefined) throw failure;
      const { runningRows, eventsBytes, bytes } = await lookNext();
      return {
        rewrittenRows: totalOf(seen.merged).rows + runningRows,
        partsMean: sums.parts / sums.looks,
        partsMost: sums.partsMost,
        eventsMergeSeconds: sums.eventsMergeSeconds,
        mergeSeconds: sums.mergeSeconds,
        ...{ eventsBytes, bytes },
        freshBytesPerRow: bytesPerRow(seen.fresh),
        mergedBytesPerRow: bytesPerRow(seen.merged),
      };
    },
    async stop() {
      isStopped = true;
      await loop;
    },
  };
}

/** The texts of each line. */
async function readRows(engine: Pick<Stack, 'clickhouseUrl'>, sql: string): Promise<string[][]> {
  const text = await retry(() => runStatement(engine, sql), {
    ...{ ...tries, signal: new AbortController().signal },
    onFailure({ error, attempt }) {
      if (attempt === tries.most) throw error;
    },
  });
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'));
}

function isOfEvents([table]: readonly string[]): boolean {
  return table === 'events';
}

function bytesOf(part: readonly string[]): string | undefined {
  return part[4];
}

function sumOf(numbers: readonly (string | undefined)[]): number {
  return numbers.reduce((sum, number) => sum + Number(number), 0);
}

function totalOf(parts: ReadonlyMap<string, Sizes>): Sizes {
  let rows = 0;
  let bytes = 0;
  for (const part of parts.values()) {
    rows += part.rows;
    bytes += part.bytes;
  }
  return { rows, bytes };
}

function bytesPerRow(parts: ReadonlyMap<string, Sizes>): number {
  const { rows, bytes } = totalOf(parts);
  return bytes / rows;
}
