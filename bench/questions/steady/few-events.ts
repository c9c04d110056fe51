// What an event of a small site costs, and how soon it is queryable: so few come that inserts take the engine longer
// than their rows.

import { createHash } from 'node:crypto';
import type { Part, Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Session, type Table } from '../../bench.ts';
import type { LoadResult } from '../../harness/load/load.ts';
import {
  countRows,
  queryNumber,
  visibleAfterMs,
  watchRows,
} from '../../harness/load/stored-rows.ts';
import { runLoadProcess } from '../../harness/processes/processes.ts';
import { cpuOfParts, mergeCpuMsOf, parts } from '../../harness/usage.ts';

interface Parameters {
  requestsPerSecond: number;
  batch: number;
  /** Of each of the three stretches: nothing sent, events sent, events sent and looked for. */
  idleMs: number;
  sentMs: number;
  watchedMs: number;
}

const smoke: Parameters = {
  ...{ requestsPerSecond: 10, batch: 5, idleMs: 200, sentMs: 500, watchedMs: 500 },
};
const real: Parameters = {
  ...{ requestsPerSecond: 10, batch: 100, idleMs: 60_000, sentMs: 600_000, watchedMs: 60_000 },
};

const seed = 45;
const connections = 4;
const pollMs = 20;
const drainPollMs = 500;
const drainTimeoutMs = 120_000;
/** Merges of what was stored go on for about so long after the last event. */
const mergedMs = 20_000;

export const fewEventsBench: Bench = {
  name: 'few-events',
  question: 'What does an event cost where few come, and how soon is it queryable?',
  async run(mode, session) {
    const parameters = mode === 'smoke' ? smoke : real;
    const stack = await session.stack();
    const idle = await spentIn(stack, () => delay(parameters.idleMs));
    const [before, blocksBefore] = [await countRows(stack), await newBlocks(stack)];
    let events = 0;
    const sent = await spentIn(stack, async () => {
      const load = await sendEvents(stack, session, parameters, parameters.sentMs);
      events = load.acknowledgedEvents;
      const seen = watchRows(stack, drainPollMs);
      await seen.until(before + events, drainTimeoutMs);
      await seen.stop();
      if (mode === 'real') await delay(mergedMs);
    });
    const inserts = (await newBlocks(stack)) - blocksBefore;
    const latencies = await watched(stack, session, parameters);
    return {
      tables: [cpuTable(idle, sent, events), latencyTable(latencies, inserts, parameters)],
      resultHash: createHash('sha256').update('each event is stored once').digest('hex'),
    };
  },
};

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

interface Spent {
  ms: number;
  cpuMs: Record<Part, number>;
  /** Of the engine's: threads that merge. */
  mergeMs: number;
}

async function spentIn(stack: Stack, run: () => Promise<void>): Promise<Spent> {
  const { engine } = stack.pids();
  const [startMs, before, merged] = [performance.now(), cpuOfParts(stack), mergeCpuMsOf(engine)];
  await run();
  const after = cpuOfParts(stack);
  const cpuMs = { service: 0, broker: 0, engine: 0 };
  for (const part of parts) cpuMs[part] = after[part] - before[part];
  return { ms: performance.now() - startMs, cpuMs, mergeMs: mergeCpuMsOf(engine) - merged };
}

async function sendEvents(
  stack: Stack,
  session: Session,
  { requestsPerSecond, batch }: Parameters,
  durationMs: number,
): Promise<LoadResult> {
  const load = await runLoadProcess({
    ...{ baseUrl: stack.baseUrl, key: stack.publicKey, size: 'medium', batch, seed, connections },
    ...{ bodiesPerConnection: 16, requestsPerSecond, load: session.nextLoad(), warmUpMs: 0 },
    ...{ durationMs, traced: true },
  });
  check(Object.keys(load.refused).length === 0, 'nothing is refused');
  return load;
}

/** Blocks that inserts have written into `events` so far: the table numbers them. */
function newBlocks(stack: Stack): Promise<number> {
  return queryNumber(
    stack,
    "SELECT max(max_block_number) FROM system.parts WHERE table = 'events'",
  );
}

async function watched(
  stack: Stack,
  session: Session,
  parameters: Parameters,
): Promise<readonly number[]> {
  const before = await countRows(stack);
  const watch = watchRows(stack, pollMs);
  const load = await sendEvents(stack, session, parameters, parameters.watchedMs);
  await watch.until(before + load.acknowledgedEvents, drainTimeoutMs);
  await watch.stop();
  check((await countRows(stack)) === before + load.acknowledgedEvents, 'each event is stored once');
  return visibleAfterMs(load.trace, before, watch);
}

function cpuTable(idle: Spent, sent: Spent, events: number): Table {
  const cells = (name: string, of: (spent: Spent) => number): string[] => {
    const idleShare = of(idle) / idle.ms;
    return [name, (100 * idleShare).toFixed(2), ((1_000 * of(sent)) / events).toFixed(1)];
  };
  const total = ({ cpuMs }: Spent): number => parts.reduce((sum, part) => sum + cpuMs[part], 0);
  return {
    title: `CPU while nothing comes and while ${Math.round((1_000 * events) / sent.ms)} events/s come`,
    columns: ['process', 'idle, % of a core', 'us an event'],
    rows: [
      ...parts.map((part) => cells(part, ({ cpuMs }) => cpuMs[part])),
      cells('of the engine, merges', ({ mergeMs }) => mergeMs),
      cells('together', total),
    ],
  };
}

function latencyTable(
  latencies: readonly number[],
  inserts: number,
  { sentMs }: Parameters,
): Table {
  const at = (share: number): string =>
    (latencies[Math.floor(share * (latencies.length - 1))] ?? 0).toFixed(0);
  return {
    title: 'Milliseconds from a request being due until its events are queryable',
    columns: ['p50', 'p99', 'max', 'inserts a second'],
    rows: [[at(0.5), at(0.99), at(1), ((1_000 * inserts) / sentMs).toFixed(2)]],
  };
}
