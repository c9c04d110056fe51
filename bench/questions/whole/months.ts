// Times of long ago: does a sender of requests with an event in each of 320 months hold up another project's events,
// and what does a year of history cost beside the same rows of one month?

import { createHash } from 'node:crypto';
import { newId } from '../../../platform/access/ids.ts';
import { dayMs, systemClock } from '../../../platform/clock.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Session, type Table } from '../../bench.ts';
import { untilMerged } from '../../harness/engine/merges.ts';
import { eventAt, type Sender, sendEvents, sendMonths } from '../../harness/load/months.ts';
import {
  makeOtherProject,
  queryableP99,
  rowsOf,
  smallRequestsPerSecond,
} from '../../harness/load/neighbour.ts';
import { countRows, queryNumber, watchRows } from '../../harness/load/stored-rows.ts';
import { median } from '../../harness/pairs.ts';
import { cpuOfParts, memoryOfParts } from '../../harness/usage.ts';

interface Parameters {
  pairs: number;
  durationMs: number;
  historyRows: number;
  rounds: number;
}

const smoke: Parameters = { pairs: 1, durationMs: 400, historyRows: 2_000, rounds: 1 };
const real: Parameters = { pairs: 3, durationMs: 15_000, historyRows: 400_000, rounds: 2 };

const months = 320;
const monthsPerSecond = 10;
const pollMs = 20;
const sampleMs = 100;
const drainTimeoutMs = 300_000;
const MiB = 1_048_576;

export const monthsBench: Bench = {
  name: 'months',
  question: 'What do events of long ago cost, and what do others notice of them?',
  async run(mode, session) {
    const parameters = mode === 'smoke' ? smoke : real;
    const stack = await session.stack();
    const importer = { baseUrl: stack.baseUrl, ...(await makeOtherProject(stack)) };
    const pairs: Pair[] = [];
    for (let pair = 0; pair < parameters.pairs; pair++) {
      const quietMs = await queryableP99(stack, session, parameters.durationMs);
      pairs.push({ quietMs, ...(await besideMonths(stack, session, importer, parameters)) });
    }
    const history = await measureHistory(stack, importer, parameters);
    return {
      tables: [besideTable(pairs), history],
      resultHash: createHash('sha256').update('all that was accepted is stored once').digest('hex'),
    };
  },
};

interface Beside {
  besideMs: number;
  serviceMiB: number;
  engineMiB: number;
}

interface Pair extends Beside {
  quietMs: number;
}

async function besideMonths(
  stack: Stack,
  session: Session,
  importer: Sender & { projectId: string },
  parameters: Parameters,
): Promise<Beside> {
  const stored = rowsOf(importer.projectId);
  const rowsBefore = await queryNumber(stack, stored);
  const before = memoryOfParts(stack);
  const highest = { ...before };
  const sample = setInterval(() => {
    const now = memoryOfParts(stack);
    highest.service = Math.max(highest.service, now.service);
    highest.engine = Math.max(highest.engine, now.engine);
  }, sampleMs);
  const sending = sendMonths(importer, {
    ...{ months, requestsPerSecond: monthsPerSecond, seed: newId() },
  });
  try {
    const besideMs = await queryableP99(stack, session, parameters.durationMs);
    const { events } = await sending.stop();
    const watch = watchRows(stack, pollMs, stored);
    await watch.until(rowsBefore + events, drainTimeoutMs);
    await watch.stop();
    check((await queryNumber(stack, stored)) === rowsBefore + events, 'each is stored once');
    return {
      besideMs,
      serviceMiB: (highest.service - before.service) / MiB,
      engineMiB: (highest.engine - before.engine) / MiB,
    };
  } finally {
    clearInterval(sample);
    await sending.stop();
  }
}

function besideTable(pairs: readonly Pair[]): Table {
  const of = (value: (pair: Pair) => number): number => median(pairs.map(value));
  return {
    title: `${smallRequestsPerSecond} requests/s of one event beside another project's ${monthsPerSecond} requests/s of ${months} months`,
    columns: ['quiet p99 ms', 'p99 ms', 'p99 ratio', 'service MiB', 'engine MiB', 'MiB more'],
    rows: [
      [
        of(({ quietMs }) => quietMs).toFixed(0),
        of(({ besideMs }) => besideMs).toFixed(0),
        of(({ quietMs, besideMs }) => besideMs / quietMs).toFixed(2),
        Math.max(...pairs.map(({ serviceMiB }) => serviceMiB)).toFixed(0),
        Math.max(...pairs.map(({ engineMiB }) => engineMiB)).toFixed(0),
        Math.max(...pairs.flatMap(({ serviceMiB, engineMiB }) => [serviceMiB, engineMiB])).toFixed(
          0,
        ),
      ],
    ],
  };
}

const monthMs = 30 * dayMs;
const yearMs = 365 * dayMs;
const orders = {
  'in the order of time': (number: number, rows: number) => number / rows,
  // Steps by the golden ratio: spread evenly, and neighbours are far from each other.
  'in random order': (number: number) => (number * 0.618_033_988_75) % 1,
} as const;
type Order = keyof typeof orders;

/** CPU of service and engine, merges included. */
async function measureHistory(
  stack: Stack,
  importer: Sender,
  { historyRows, rounds }: Parameters,
): Promise<Table> {
  const rows: string[][] = [];
  for (const order of ['in the order of time', 'in random order'] as const) {
    const costs = { month: [] as number[], year: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      const spans = [
        ['month', monthMs],
        ['year', yearMs],
      ] as const;
      for (const [name, spanMs] of round % 2 === 0 ? spans : spans.toReversed()) {
        costs[name].push(await costOf(stack, importer, { order, spanMs, rows: historyRows }));
      }
    }
    const ratios = costs.year.map((ms, round) => ms / (costs.month[round] ?? ms));
    rows.push([
      order,
      ...[costs.month, costs.year].map((all) => ((1_000 * median(all)) / historyRows).toFixed(1)),
      ...[median(ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2)),
    ]);
  }
  return {
    title: `history of ${historyRows} events, CPU us an event of service and engine, merges included`,
    columns: ['events', 'of a month', 'of a year', 'CPU ratio', 'most'],
    rows,
  };
}

const batch = 100;
const sendersAtOnce = 8;

async function costOf(
  stack: Stack,
  importer: Sender,
  { order, spanMs, rows }: { order: Order; spanMs: number; rows: number },
): Promise<number> {
  await untilMerged(stack);
  const before = await countRows(stack);
  const cpuBefore = cpuOfParts(stack);
  const run = newId();
  const endMs = systemClock.nowMs();
  const watch = watchRows(stack, sampleMs);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < rows) {
      const first = next;
      next += batch;
      const events = Array.from({ length: batch }, (_, index) => {
        const place = orders[order](first + index, rows);
        return eventAt(run, first + index, endMs - spanMs + Math.floor(place * spanMs));
      });
      await sendEvents(importer, events);
    }
  };
  await Promise.all(Array.from({ length: sendersAtOnce }, lane));
  await watch.until(before + rows, drainTimeoutMs);
  await watch.stop();
  await untilMerged(stack);
  check((await countRows(stack)) === before + rows, 'each event is stored once');
  const cpu = cpuOfParts(stack);
  return cpu.service + cpu.engine - cpuBefore.service - cpuBefore.engine;
}
