// From HTTP to rows that can be queried: the whole service as a user runs it, with the load generator on the same
// cores. First as many events a second as it takes, counted when they can be queried; then, at half of that, how long
// an event takes until it can be.

import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { maxBatchRows } from '../../../platform/limits.ts';
import { makeBodies } from '../../../test/harness/requests/bodies.ts';
import type { Part, Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Session, type Table } from '../../bench.ts';
import { type EngineRate, openEngineRate } from '../../harness/engine/engine-rate.ts';
import { untilMerged } from '../../harness/engine/merges.ts';
import type { LoadOptions } from '../../harness/load/load.ts';
import {
  countDistinctEvents,
  countRows,
  visibleAfterMs,
  watchRows,
} from '../../harness/load/stored-rows.ts';
import { median } from '../../harness/pairs.ts';
import { runLoadProcess } from '../../harness/processes/processes.ts';
import { cpuOfParts, mergeCpuMsOf, parts, sumOf, watchMemory } from '../../harness/usage.ts';

interface Parameters {
  batch: number;
  connections: number;
  warmUps: number;
  runs: number;
  fullLoadMs: number;
  halfLoadMs: number;
  /** Rows of a batch that the engine is given by itself. */
  engineRows: number;
}

const smoke: Parameters = {
  ...{ batch: 10, connections: 2, warmUps: 0, runs: 1, fullLoadMs: 500, halfLoadMs: 500 },
  engineRows: 500,
};
const real: Parameters = {
  ...{ batch: 100, connections: 16, warmUps: 1, runs: 5, fullLoadMs: 10_000, halfLoadMs: 30_000 },
  engineRows: maxBatchRows,
};

const seed = 5;
const bodiesPerConnection = 16;
// Each count costs the engine about two milliseconds: often enough to see, seldom enough not to be the load.
const fullLoadPollMs = 200;
const halfLoadPollMs = 50;
const drainTimeoutMs = 120_000;

export const endToEndBench: Bench = {
  name: 'end-to-end',
  question: 'How many events a second become queryable, and how soon, all on one machine?',
  async run(mode, session) {
    const parameters = mode === 'smoke' ? smoke : real;
    const stack = await session.stack();
    const rowsBefore = await countRows(stack);
    const memory = watchMemory(stack);
    const full = await runFullLoads(stack, session, parameters);
    const eventsPerSecond = median(full.map((run) => run.eventsPerSecond));
    const half = await runHalfLoad(stack, session, parameters, eventsPerSecond / 2);
    memory.stop();
    const rows = await checkRows(stack, rowsBefore);
    const tables = [
      throughputTable(full, parameters.batch),
      lagTable(half),
      usageTable(full, memory.peak()),
    ];
    // Times decide how many events there are; that each was stored once is the result.
    return { tables, resultHash: createHash('sha256').update(rows).digest('hex') };
  },
};

interface FullLoad {
  events: number;
  eventsPerSecond: number;
  /** The engine alone with as many rows, right after. */
  engine: EngineRate;
  /** JSON.parse of the same bodies on one thread, right before. */
  parsedPerSecond: number;
  /** From the last answer until every event was seen. */
  drainMs: number;
  requestP99Ms: number;
  /** CPU microseconds an event, without merges. */
  cpuUs: Record<Part, number>;
  /** CPU microseconds an event of all the merges that the events caused. */
  mergeUs: number;
  loadCpuUs: number;
}

/** Each beside the engine by itself, in turns. */
async function runFullLoads(
  stack: Stack,
  session: Session,
  parameters: Parameters,
): Promise<FullLoad[]> {
  const own = await openEngineRate(parameters.engineRows);
  try {
    const full: FullLoad[] = [];
    for (let run = 0; run < parameters.warmUps + parameters.runs; run++) {
      const service = await runFullLoad(stack, session, parameters);
      const measured = { ...service, engine: await own.measure(service.events) };
      if (run >= parameters.warmUps) full.push(measured);
    }
    return full;
  } finally {
    await own.close();
  }
}

async function runFullLoad(
  stack: Stack,
  session: Session,
  parameters: Parameters,
): Promise<Omit<FullLoad, 'engine'>> {
  const parsedPerSecond = parseSpeed(parameters.batch);
  const rowsBefore = await countRows(stack);
  const watch = watchRows(stack, fullLoadPollMs);
  const cpuBefore = cpuOfParts(stack);
  const mergeMsBefore = mergeCpuMsOf(stack.pids().engine);
  const load = await runLoadProcess(
    loadOptions(stack, session, parameters, parameters.fullLoadMs, 0),
  );
  const allSeenMs = await watch.until(rowsBefore + load.acknowledgedEvents, drainTimeoutMs);
  await watch.stop();
  const cpu = cpuOfParts(stack);
  await untilMerged(stack);
  const mergeMs = mergeCpuMsOf(stack.pids().engine) - mergeMsBefore;
  const engineMs = cpuOfParts(stack).engine - cpuBefore.engine - mergeMs;
  const firstDueMs = load.trace[0]?.[0] ?? allSeenMs;
  const lastAnsweredMs = load.trace.at(-1)?.[1] ?? allSeenMs;
  const perEvent = (cpuMs: number): number => (1_000 * cpuMs) / load.acknowledgedEvents;
  return {
    events: load.acknowledgedEvents,
    eventsPerSecond: (1_000 * load.acknowledgedEvents) / (allSeenMs - firstDueMs),
    parsedPerSecond,
    drainMs: allSeenMs - lastAnsweredMs,
    requestP99Ms: load.p99Ms,
    cpuUs: {
      service: perEvent(cpu.service - cpuBefore.service),
      broker: perEvent(cpu.broker - cpuBefore.broker),
      engine: perEvent(engineMs),
    },
    mergeUs: perEvent(mergeMs),
    loadCpuUs: perEvent(load.cpuMs),
  };
}

interface HalfLoad {
  eventsPerSecond: number;
  /** Milliseconds from when its request was due until an event could be queried. */
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  requestP99Ms: number;
}

async function runHalfLoad(
  stack: Stack,
  session: Session,
  parameters: Parameters,
  eventsPerSecond: number,
): Promise<HalfLoad> {
  const rowsBefore = await countRows(stack);
  const watch = watchRows(stack, halfLoadPollMs);
  const requestsPerSecond = eventsPerSecond / parameters.batch;
  const load = await runLoadProcess(
    loadOptions(stack, session, parameters, parameters.halfLoadMs, requestsPerSecond),
  );
  await watch.until(rowsBefore + load.acknowledgedEvents, drainTimeoutMs);
  await watch.stop();
  const latencies = visibleAfterMs(load.trace, rowsBefore, watch);
  const at = (share: number): number => latencies[Math.floor(share * (latencies.length - 1))] ?? 0;
  return {
    eventsPerSecond: (1_000 * load.acknowledgedEvents) / load.countedMs,
    ...{ p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) },
    requestP99Ms: load.p99Ms,
  };
}

function loadOptions(
  stack: Stack,
  session: Session,
  { batch, connections }: Parameters,
  durationMs: number,
  requestsPerSecond: number,
): LoadOptions {
  return {
    ...{ baseUrl: stack.baseUrl, key: stack.publicKey, size: 'medium', batch, seed },
    ...{ nowMs: Date.now(), bodiesPerConnection, connections, requestsPerSecond },
    ...{ firstSequence: session.nextLoad() * 2 ** 22, warmUpMs: 0, durationMs, traced: true },
  };
}

/** Events a second through JSON.parse on one thread, by CPU time. */
function parseSpeed(batch: number): number {
  const count = Math.ceil(2_000 / batch);
  const bodies = makeBodies({ size: 'medium', batch, count, seed, nowMs: Date.now() });
  const before = process.cpuUsage();
  let events = 0;
  for (let round = 0; round < 10; round++) {
    for (const { bytes } of bodies) events += JSON.parse(bytes.toString()).events.length;
  }
  const { user, system } = process.cpuUsage(before);
  return (1_000_000 * events) / (user + system);
}

/** Every acknowledged event is there and none is there twice: the counts before agree with the answers. */
async function checkRows(stack: Stack, rowsBefore: number): Promise<string> {
  const rows = await countRows(stack);
  const distinct = await countDistinctEvents(stack);
  check(rows > rowsBefore, 'events were stored');
  check(rows === distinct, `${rows} rows are of ${distinct} events`);
  return `${rows - distinct} rows too many`;
}

function throughputTable(full: readonly FullLoad[], batch: number): Table {
  const medianOf = (pick: (run: FullLoad) => number): number => median(full.map(pick));
  const cells = (of: (pick: (run: FullLoad) => number) => number): string[] => [
    ...[
      of((run) => run.eventsPerSecond),
      of((run) => run.engine.rowsPerSecond),
      of((run) => run.parsedPerSecond),
    ].map((value) => Math.round(value).toLocaleString('en-US')),
    of((run) => run.eventsPerSecond / run.engine.rowsPerSecond).toFixed(2),
    (of(({ engine }) => engine.cpuUs + engine.mergeUs) / of(togetherUs)).toFixed(2),
    of((run) => run.eventsPerSecond / run.parsedPerSecond).toFixed(2),
    ...[of((run) => run.drainMs), of((run) => run.requestP99Ms)].map((value) => value.toFixed(0)),
  ];
  const rows = full.map((run, index) => [String(index + 1), ...cells((pick) => pick(run))]);
  rows.push(['median', ...cells(medianOf)], ['all', ...cells((pick) => meanOf(full, pick))]);
  return {
    title: `Full load, batches of ${batch}: events queryable a second, from the first request to the last row`,
    columns: [
      ...['run', 'events/s', 'engine rows/s', 'JSON.parse ev/s'],
      ...['of engine, clock', 'of engine', 'of JSON.parse', 'drain ms', 'request p99 ms'],
    ],
    rows,
  };
}

/** Of all events: which run pays for a merge of what others stored is chance. */
function meanOf(full: readonly FullLoad[], pick: (run: FullLoad) => number): number {
  const events = full.reduce((sum, run) => sum + run.events, 0);
  return full.reduce((sum, run) => sum + pick(run) * run.events, 0) / events;
}

/** CPU microseconds of an event in all processes. */
function togetherUs({ cpuUs, mergeUs, loadCpuUs }: FullLoad): number {
  return parts.reduce((sum, part) => sum + cpuUs[part], mergeUs + loadCpuUs);
}

function lagTable(half: HalfLoad): Table {
  const rows = [
    [
      Math.round(half.eventsPerSecond).toLocaleString('en-US'),
      ...[half.p50Ms, half.p99Ms, half.maxMs, half.requestP99Ms].map((value) => value.toFixed(0)),
    ],
  ];
  return {
    title: 'Half load: milliseconds from a request being due to its events being queryable',
    columns: ['events/s', 'p50', 'p99', 'max', 'request p99'],
    rows,
  };
}

function usageTable(full: readonly FullLoad[], peak: Record<Part, number>): Table {
  const cpu = (part: Part): number => meanOf(full, (run) => run.cpuUs[part]);
  const load = meanOf(full, (run) => run.loadCpuUs);
  const mebibytes = (bytes: number): string => (bytes / 1_048_576).toFixed(0);
  const merges = meanOf(full, (run) => run.mergeUs);
  const total = meanOf(full, togetherUs);
  const cores = availableParallelism();
  const possible = Math.round((1_000_000 * cores) / total).toLocaleString('en-US');
  return {
    title:
      'CPU at full load, and memory at the moment of the highest sum; ' +
      `with nothing else on ${cores} cores this CPU is ${possible} events/s`,
    columns: ['process', 'us/event', 'MiB'],
    rows: [
      ...parts.map((part) => [part, cpu(part).toFixed(2), mebibytes(peak[part])]),
      ['merges of the engine', merges.toFixed(2), ''],
      ['load generator', load.toFixed(2), ''],
      ['together', total.toFixed(2), mebibytes(sumOf(peak))],
      ['engine by itself', meanOf(full, (run) => run.engine.cpuUs).toFixed(2), ''],
      ['merges of it', meanOf(full, (run) => run.engine.mergeUs).toFixed(2), ''],
    ],
  };
}
