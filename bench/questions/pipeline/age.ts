// The cost of merges by the age of a table: the more rows are stored, the more often merges write each of them again. A
// new table is filled with a hundred million different events; beside what was measured stands the simulated selection
// of merges, which goes on to a billion.

import { createHash } from 'node:crypto';
import { insertArrow } from '../../../platform/clickhouse/clickhouse.ts';
import { maxBatchRows } from '../../../platform/limits.ts';
import { retry } from '../../../platform/retry.ts';
import { type Bench, check } from '../../bench.ts';
import { createBatches } from '../../harness/batches.ts';
import { runStatement } from '../../harness/engine/engine-statement.ts';
import { untilMerged } from '../../harness/engine/merges.ts';
import { openServiceEngine, type ServiceEngine } from '../../harness/engine/service-engine.ts';
import { queryNumber } from '../../harness/load/stored-rows.ts';
import { openGauge } from './age-gauge.ts';
import { type Age, costTable, curveTable, mergesTable } from './age-tables.ts';

interface Parameters {
  rowsPerInsert: number;
  /** The rows at which the table is looked at. */
  marks: readonly number[];
  /** The rows at which the simulated table is looked at. */
  curve: readonly number[];
}

const smoke: Parameters = { rowsPerInsert: 500, marks: [1_000, 8_000], curve: [1e6, 2e6] };
const real: Parameters = {
  rowsPerInsert: maxBatchRows,
  marks: [10e6, 100e6],
  curve: [10e6, 100e6, 200e6, 1_000e6],
};

const seed = 21;
/** The engine runs as many inserts at once. */
const connections = 2;
/** Of an insert for which the engine has no memory: the service's writer tries again, too. */
const tries = { most: 10, baseMs: 100, capMs: 10_000 };
/** A merge of most rows takes minutes, and others follow it. */
const mergingMs = 1_200_000;
/** The ids of this many rows fit into the engine's memory beside its other work. */
const comparedRows = 1_000_000;

export const ageBench: Bench = {
  name: 'age',
  question: 'What do merges cost where much is stored?',
  async run(mode) {
    const { marks, curve, rowsPerInsert } = mode === 'smoke' ? smoke : real;
    const engine = await openServiceEngine(connections);
    try {
      const { filled, merged } = await fill(engine, marks, rowsPerInsert);
      const ids = await checkRows(engine, merged.rows);
      const ages = [...filled, merged];
      return {
        tables: [mergesTable(ages, rowsPerInsert), costTable(ages), curveTable(merged, curve)],
        resultHash: createHash('sha256').update(ids).digest('hex'),
      };
    } finally {
      await engine.close();
    }
  },
};

/** The table at each mark while inserts go on, and when nothing is left to be merged. */
async function fill(
  engine: ServiceEngine,
  marks: readonly number[],
  rowsPerInsert: number,
): Promise<{ filled: Age[]; merged: Age }> {
  const makeBatch = createBatches(seed);
  const all = Math.max(...marks);
  let made = 0;
  let stored = 0;
  let failures = 0;
  const insert = (arrow: Uint8Array, token: string): Promise<void> =>
    retry(() => insertArrow(engine.client, 'events', arrow, token), {
      ...{ ...tries, signal: new AbortController().signal },
      onFailure({ error, attempt }) {
        failures++;
        if (attempt === tries.most) throw error;
      },
    });
  const gauge = openGauge(engine);
  const filled: Age[] = [];
  const keepInserting = async (): Promise<void> => {
    while (made < all) {
      made += rowsPerInsert;
      await insert(makeBatch(rowsPerInsert), `age-${made}`);
      stored += rowsPerInsert;
      const rows = stored;
      if (!marks.includes(rows)) continue;
      const gauged = await gauge.read();
      filled.push({ ...gauged, rows, failures, fillSeconds: gauged.seconds, isMerged: false });
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, keepInserting));
    const fillSeconds = filled.at(-1)?.seconds ?? 0;
    await untilMerged(engine, mergingMs);
    const gauged = await gauge.read();
    return { filled, merged: { ...gauged, rows: all, failures, fillSeconds, isMerged: true } };
  } finally {
    await gauge.close();
  }
}

/** Returns the sum over all ids; throws where a row is missing or there twice, or a view has not seen it. */
async function checkRows(engine: ServiceEngine, rows: number): Promise<string> {
  const slice = `cityHash64(event_id) % ${Math.ceil(rows / comparedRows)} = 0`;
  const text = await runStatement(
    engine,
    `SELECT count(), countIf(${slice}) - uniqExactIf(event_id, ${slice}), sum(cityHash64(event_id))
     FROM events FORMAT TabSeparated`,
  );
  const [count, repeated, ids = ''] = text.trim().split('\t');
  check(Number(count) === rows, `${rows} rows are stored, and not ${count}`);
  check(repeated === '0', `${repeated} events are there twice`);
  for (const sum of ['sum(total_events) FROM profile_activity', 'sum(events) FROM event_counts']) {
    const summed = await queryNumber(engine, `SELECT ${sum}`);
    check(summed === rows, `${rows} rows are ${summed} by ${sum}`);
  }
  return ids;
}
