// The engine's own rate, the calibration of the path from HTTP to rows: the pipeline's record batches from files,
// inserted in the engine directly, one insert after the other on each of two connections, with the views, the indexes
// and the merges that they cause. No row comes twice.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBatches } from '../batches.ts';
import { median } from '../pairs.ts';
import type { OwnEngine } from '../processes/processes.ts';
import { cpuMsOf, cpuMsWithoutMerges, mergeCpuMsOf } from '../usage.ts';
import { untilMerged } from './merges.ts';
import { openMigratedEngine } from './migrated-engine.ts';

/** An embedded engine runs this many inserts at once; a third would wait. */
const connections = 2;
const seed = 5;
/** Pairs of inserts with the views and without. */
const viewPairs = 5;

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
  /**
   * CPU microseconds a row that the views of `events` take at an insert, as the difference to inserts of the same rows
   * into the same table without views. Merges are stopped, from here on.
   */
  measureViews(): Promise<number>;
  close(): Promise<void>;
}

/** Starts an engine for inserts of `batchRows` rows each; it idles between measurements. */
export async function openEngineRate(batchRows: number): Promise<OwnRate> {
  const { directory, engine, close } = await openMigratedEngine();
  const makeBatch = createBatches(seed);
  let made = 0;
  const makeFile = (): string => {
    const path = join(directory, `${made++}.arrow`);
    writeFileSync(path, makeBatch(batchRows));
    return path;
  };
  return {
    async measure(rows) {
      const paths = Array.from({ length: Math.ceil(rows / batchRows) }, makeFile);
      const before = {
        cpuMs: cpuMsWithoutMerges(engine.pid),
        mergeMs: mergeCpuMsOf(engine.pid),
      };
      const tookMs = await insertAll(engine, paths);
      // Before the wait for merges, in which the engine answers hundreds of questions about them.
      const cpuMs = cpuMsWithoutMerges(engine.pid) - before.cpuMs;
      await untilMerged({ clickhouseUrl: engine.url });
      for (const path of paths) rmSync(path);
      const mergeMs = mergeCpuMsOf(engine.pid) - before.mergeMs;
      const stored = paths.length * batchRows;
      return {
        rowsPerSecond: (1_000 * stored) / tookMs,
        cpuUs: (1_000 * cpuMs) / stored,
        mergeUs: (1_000 * mergeMs) / stored,
      };
    },
    async measureViews() {
      await engine.command('SYSTEM STOP MERGES');
      await engine.command('CREATE TABLE events_alone AS events');
      const differences: number[] = [];
      for (let pair = 0; pair < viewPairs; pair++) {
        const path = makeFile();
        const insertMs = async (table: string): Promise<number> => {
          const before = cpuMsOf(engine.pid);
          await engine.command(insertSql(table, path));
          return cpuMsOf(engine.pid) - before;
        };
        const aloneMs = await insertMs('events_alone');
        differences.push((await insertMs('events')) - aloneMs);
        rmSync(path);
      }
      return (1_000 * median(differences)) / batchRows;
    },
    close,
  };
}

/** Milliseconds until the last insert ended. */
async function insertAll(engine: OwnEngine, paths: readonly string[]): Promise<number> {
  const startMs = performance.now();
  const left = paths.values();
  const insert = async (): Promise<void> => {
    for (const path of left) await engine.command(insertSql('events', path));
  };
  await Promise.all(Array.from({ length: connections }, insert));
  return performance.now() - startMs;
}

function insertSql(table: string, path: string): string {
  return `INSERT INTO ${table} FROM INFILE '${path}' FORMAT ArrowStream`;
}
