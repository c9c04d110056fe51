// The engine's own rate: the pipeline's record batches from files, told to the engine directly, one insert after the
// other on each of two connections, with the view, the indexes and the merges they cause. What the way from HTTP to
// rows is measured against.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { maxBatchRows } from '../platform/limits.ts';
import { makeBatches } from './batches.ts';
import { openMigratedEngine } from './migrated-engine.ts';
import type { OwnEngine } from './processes.ts';
import { cpuMsOf } from './usage.ts';

/** As many as an embedded engine runs at once; a third insert would wait. */
const connections = 2;
const files = 8;
const seed = 5;

export interface EngineRate {
  rowsPerSecond: number;
  /** CPU microseconds a row, merges included as far as they have come. */
  cpuUs: number;
}

export interface OwnRate {
  /** Inserts into empty tables for `durationMs`, until the last insert is through; empties them again. */
  measure(durationMs: number): Promise<EngineRate>;
  close(): Promise<void>;
}

/** An engine of its own with files of at most `rows` rows each; it idles between measurements. */
export async function openEngineRate(rows = maxBatchRows): Promise<OwnRate> {
  const { directory, engine, client, close } = await openMigratedEngine();
  const paths = makeBatches(rows, files, seed).map((arrow, index) => {
    const path = join(directory, `${index}.arrow`);
    writeFileSync(path, arrow);
    return path;
  });
  return {
    async measure(durationMs) {
      const rate = await insertFor(engine, paths, rows, durationMs);
      // Nothing is left to be merged while something else is measured.
      for (const table of ['events', 'profile_activity']) {
        await client.command({ query: `TRUNCATE TABLE ${table}` });
      }
      return rate;
    },
    close,
  };
}

async function insertFor(
  engine: OwnEngine,
  paths: readonly string[],
  rows: number,
  durationMs: number,
): Promise<EngineRate> {
  const cpuBefore = cpuMsOf(engine.pid);
  const startMs = performance.now();
  let inserts = 0;
  const insert = async (): Promise<void> => {
    while (performance.now() - startMs < durationMs) {
      const path = paths[inserts++ % paths.length];
      await engine.command(`INSERT INTO events FROM INFILE '${path}' FORMAT ArrowStream`);
    }
  };
  await Promise.all(Array.from({ length: connections }, insert));
  const tookMs = performance.now() - startMs;
  const cpuMs = cpuMsOf(engine.pid) - cpuBefore;
  const stored = inserts * rows;
  return { rowsPerSecond: (1_000 * stored) / tookMs, cpuUs: (1_000 * cpuMs) / stored };
}
