// The engine's own rate, the calibration of the path from HTTP to rows: the pipeline's record batches from files,
// inserted in the engine directly, one insert after the other on each of two connections, with the view, the indexes
// and the merges that they cause.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { maxBatchRows } from '../../../platform/limits.ts';
import { makeBatches } from '../batches.ts';
import type { OwnEngine } from '../processes/processes.ts';
import { cpuMsOf, mergeCpuMsOf } from '../usage.ts';
import { untilMerged } from './merges.ts';
import { openMigratedEngine } from './migrated-engine.ts';

/** An embedded engine runs this many inserts at once; a third would wait. */
const connections = 2;
const files = 8;
const seed = 5;

export interface EngineRate {
  /** By the clock, until the end of the last insert, whatever is left to be merged. */
  rowsPerSecond: number;
  /** CPU microseconds a row, without merges. */
  cpuUs: number;
  /** CPU microseconds a row of all the merges that the rows caused. */
  mergeUs: number;
}

interface OwnRate {
  /** Inserts at least `rows` more rows; the table is never emptied. */
  measure(rows: number): Promise<EngineRate>;
  close(): Promise<void>;
}

/** Starts an engine with files of at most `batchRows` rows each; it idles between measurements. */
export async function openEngineRate(batchRows = maxBatchRows): Promise<OwnRate> {
  const { directory, engine, close } = await openMigratedEngine();
  const paths = makeBatches(batchRows, files, seed).map((arrow, index) => {
    const path = join(directory, `${index}.arrow`);
    writeFileSync(path, arrow);
    return path;
  });
  return {
    async measure(rows) {
      const inserts = Math.ceil(rows / batchRows);
      const before = { cpuMs: cpuMsOf(engine.pid), mergeMs: mergeCpuMsOf(engine.pid) };
      const tookMs = await insertAll(engine, paths, inserts);
      await untilMerged({ clickhouseUrl: engine.url });
      const mergeMs = mergeCpuMsOf(engine.pid) - before.mergeMs;
      const cpuMs = cpuMsOf(engine.pid) - before.cpuMs - mergeMs;
      const stored = inserts * batchRows;
      return {
        rowsPerSecond: (1_000 * stored) / tookMs,
        cpuUs: (1_000 * cpuMs) / stored,
        mergeUs: (1_000 * mergeMs) / stored,
      };
    },
    close,
  };
}

/** Milliseconds until the last of `inserts` inserts ended. */
async function insertAll(
  engine: OwnEngine,
  paths: readonly string[],
  inserts: number,
): Promise<number> {
  const startMs = performance.now();
  let begun = 0;
  const insert = async (): Promise<void> => {
    while (begun < inserts) {
      const path = paths[begun++ % paths.length];
      await engine.command(`INSERT INTO events FROM INFILE '${path}' FORMAT ArrowStream`);
    }
  };
  await Promise.all(Array.from({ length: connections }, insert));
  return performance.now() - startMs;
}
