// One project sends as much as the service answers, more than can be stored: what does another project notice, how much
// memory does it take, and is all that was accepted stored once?

import { createHash } from 'node:crypto';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Session, type Table } from '../../bench.ts';
import {
  makeOtherProject,
  type OtherProject,
  queryableP99,
  rowsOf,
  smallRequestsPerSecond,
} from '../../harness/load/neighbour.ts';
import { queryNumber, watchRows } from '../../harness/load/stored-rows.ts';
import { median } from '../../harness/pairs.ts';
import { runLoadProcess } from '../../harness/processes/processes.ts';
import { memoryOfParts } from '../../harness/usage.ts';

interface Parameters {
  pairs: number;
  quietMs: number;
  /** The flood begins this long before the other project's events are timed: its queue is full by then. */
  leadMs: number;
  floodedMs: number;
  batch: number;
  connections: number;
}

const smoke: Parameters = {
  ...{ pairs: 1, quietMs: 300, leadMs: 100, floodedMs: 400, batch: 10, connections: 2 },
};
const real: Parameters = {
  ...{ pairs: 3, quietMs: 10_000, leadMs: 10_000, floodedMs: 20_000, batch: 500, connections: 16 },
};

const seed = 41;
const pollMs = 100;
const sampleMs = 100;
const drainTimeoutMs = 300_000;
const MiB = 1_048_576;

export const floodBench: Bench = {
  name: 'flood',
  question: 'What do others notice of a project that sends more than can be stored?',
  async run(mode, session) {
    const parameters = mode === 'smoke' ? smoke : real;
    const stack = await session.stack();
    const other = await makeOtherProject(stack);
    const pairs: Pair[] = [];
    for (let pair = 0; pair < parameters.pairs; pair++) {
      const quietMs = await queryableP99(stack, session, parameters.quietMs);
      pairs.push({ quietMs, ...(await besideFlood(stack, session, other, parameters)) });
    }
    return {
      tables: [tableOf(pairs)],
      resultHash: createHash('sha256').update('all that was accepted is stored once').digest('hex'),
    };
  },
};

interface Beside {
  besideMs: number;
  acceptedPerSecond: number;
  refused: number;
  grownMiB: number;
}

interface Pair extends Beside {
  quietMs: number;
}

async function besideFlood(
  stack: Stack,
  session: Session,
  other: OtherProject,
  { leadMs, floodedMs, batch, connections }: Parameters,
): Promise<Beside> {
  const stored = rowsOf(other.projectId);
  const rowsBefore = await queryNumber(stack, stored);
  const memory = (): number => memoryOfParts(stack).service + memoryOfParts(stack).engine;
  const before = memory();
  let highest = before;
  const sample = setInterval(() => {
    highest = Math.max(highest, memory());
  }, sampleMs);
  const durationMs = leadMs + floodedMs;
  const flooding = runLoadProcess({
    ...{ baseUrl: stack.baseUrl, key: other.privateKey, size: 'medium', batch, seed },
    ...{ bodiesPerConnection: 4, connections, requestsPerSecond: 0, load: session.nextLoad() },
    ...{ warmUpMs: 0, durationMs, traced: false },
  });
  try {
    await new Promise((resolve) => setTimeout(resolve, leadMs));
    const besideMs = await queryableP99(stack, session, floodedMs / 2);
    const flood = await flooding;
    const watch = watchRows(stack, pollMs, stored);
    await watch.until(rowsBefore + flood.acknowledgedEvents, drainTimeoutMs);
    await watch.stop();
    const rows = await queryNumber(stack, stored);
    check(rows === rowsBefore + flood.acknowledgedEvents, 'each accepted event is stored once');
    const others = Object.keys(flood.refused).filter((status) => status !== '429');
    check(others.length === 0, 'who sends too much is told to slow down, and nothing else');
    return {
      besideMs,
      acceptedPerSecond: (1_000 * flood.acknowledgedEvents) / durationMs,
      refused: flood.refused['429'] ?? 0,
      grownMiB: (highest - before) / MiB,
    };
  } finally {
    clearInterval(sample);
    await flooding.catch(() => {});
  }
}

function tableOf(pairs: readonly Pair[]): Table {
  const of = (value: (pair: Pair) => number): number => median(pairs.map(value));
  return {
    title: `${smallRequestsPerSecond} requests/s of one event beside another project's flood, medians of ${pairs.length} pairs`,
    columns: ['quiet p99 ms', 'p99 ms', 'p99 ratio', 'flood events/s', 'refused', 'MiB more'],
    rows: [
      [
        of(({ quietMs }) => quietMs).toFixed(0),
        of(({ besideMs }) => besideMs).toFixed(0),
        of(({ quietMs, besideMs }) => besideMs / quietMs).toFixed(2),
        of(({ acceptedPerSecond }) => acceptedPerSecond).toFixed(0),
        of(({ refused }) => refused).toFixed(0),
        Math.max(...pairs.map(({ grownMiB }) => grownMiB)).toFixed(0),
      ],
    ],
  };
}
