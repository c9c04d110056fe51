// From HTTP to rows that can be queried: the whole service as a user runs it, with the load generator on the same
// cores. First the events a second that it takes, counted when they can be queried; then, at half of that, the time
// until an event can be queried.

import { createHash } from 'node:crypto';
import { maxBatchRows } from '../../../platform/limits.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check } from '../../bench.ts';
import { countDistinctEvents, countRows } from '../../harness/load/stored-rows.ts';
import { median } from '../../harness/pairs.ts';
import { watchMemory } from '../../harness/usage.ts';
import { type Parameters, runFullLoads, runHalfLoad } from './end-to-end-loads.ts';
import { lagTable, throughputTable, usageTable } from './end-to-end-tables.ts';

const smoke: Parameters = {
  ...{ batch: 10, connections: 2, warmUps: 0, runs: 1, fullLoadMs: 500, halfLoadMs: 500 },
  engineRows: 500,
};
const real: Parameters = {
  ...{ batch: 100, connections: 16, warmUps: 1, runs: 5, fullLoadMs: 10_000, halfLoadMs: 30_000 },
  engineRows: maxBatchRows,
};

export const endToEndBench: Bench = {
  name: 'end-to-end',
  question: 'How many events a second become queryable, and how soon, all on one machine?',
  async run(mode, session) {
    const parameters = mode === 'smoke' ? smoke : real;
    const stack = await session.stack();
    const rowsBefore = await countRows(stack);
    const memory = watchMemory(stack);
    const { full, viewsUs } = await runFullLoads(stack, session, parameters);
    const eventsPerSecond = median(full.map((run) => run.eventsPerSecond));
    const half = await runHalfLoad(stack, session, parameters, eventsPerSecond / 2);
    memory.stop();
    const rows = await checkRows(stack, rowsBefore);
    const tables = [
      throughputTable(full, parameters.batch),
      lagTable(half),
      usageTable(full, viewsUs, memory.peak()),
    ];
    // The number of events depends on times; the result is that each was stored once.
    return { tables, resultHash: createHash('sha256').update(rows).digest('hex') };
  },
};

/** Checks that no stored event is there twice; the loads have waited for every acknowledged one. */
async function checkRows(stack: Stack, rowsBefore: number): Promise<string> {
  const rows = await countRows(stack);
  const distinct = await countDistinctEvents(stack);
  check(rows > rowsBefore, 'events were stored');
  check(rows === distinct, `${rows} rows are of ${distinct} events`);
  return `${rows - distinct} rows too many`;
}
