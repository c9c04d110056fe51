// The loads of the end-to-end bench and their figures: as many events as the service takes, run by run beside the
// engine by itself, and half of that. end-to-end-tables.ts draws the tables.

import { makeBodies } from '../../../test/harness/requests/bodies.ts';
import type { Part, Stack } from '../../../test/harness/servers/stack.ts';
import type { Session } from '../../bench.ts';
import { type EngineRate, openEngineRate } from '../../harness/engine/engine-rate.ts';
import { untilMerged } from '../../harness/engine/merges.ts';
import type { LoadOptions } from '../../harness/load/load.ts';
import { countRows, visibleAfterMs, watchRows } from '../../harness/load/stored-rows.ts';
import { runLoadProcess } from '../../harness/processes/processes.ts';
import { cpuMsWithoutMerges, cpuOfParts, mergeCpuMsOf } from '../../harness/usage.ts';

export interface Parameters {
  batch: number;
  connections: number;
  warmUps: number;
  runs: number;
  fullLoadMs: number;
  halfLoadMs: number;
  /** Rows of a batch for the engine by itself. */
  engineRows: number;
}

const seed = 5;
const bodiesPerConnection = 16;
// Each count costs the engine about two milliseconds: these intervals are short enough to see changes and long enough
// not to be a load.
const fullLoadPollMs = 200;
const halfLoadPollMs = 50;
const drainTimeoutMs = 120_000;

export interface FullLoad {
  events: number;
  eventsPerSecond: number;
  /** The engine by itself with the same number of rows, right after. */
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

/** Runs the service and the engine by itself in turns; `viewsUs` is OwnRate.measureViews's. */
export async function runFullLoads(
  stack: Stack,
  session: Session,
  parameters: Parameters,
): Promise<{ full: FullLoad[]; viewsUs: number }> {
  const own = await openEngineRate(parameters.engineRows);
  try {
    const full: FullLoad[] = [];
    for (let run = 0; run < parameters.warmUps + parameters.runs; run++) {
      const service = await runFullLoad(stack, session, parameters);
      const measured = { ...service, engine: await own.measure(service.events) };
      if (run >= parameters.warmUps) full.push(measured);
    }
    return { full, viewsUs: await own.measureViews() };
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
  const engineMsBefore = cpuMsWithoutMerges(stack.pids().engine);
  const mergeMsBefore = mergeCpuMsOf(stack.pids().engine);
  const load = await runLoadProcess(
    loadOptions(stack, session, parameters, parameters.fullLoadMs, 0),
  );
  const allSeenMs = await watch.until(rowsBefore + load.acknowledgedEvents, drainTimeoutMs);
  await watch.stop();
  const cpu = cpuOfParts(stack);
  // Before the wait for merges, in which the engine answers hundreds of questions about them.
  const engineMs = cpuMsWithoutMerges(stack.pids().engine) - engineMsBefore;
  await untilMerged(stack);
  const mergeMs = mergeCpuMsOf(stack.pids().engine) - mergeMsBefore;
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

export interface HalfLoad {
  eventsPerSecond: number;
  /** Milliseconds from the moment a request was due until its event could be queried. */
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  requestP99Ms: number;
}

export async function runHalfLoad(
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
    ...{ bodiesPerConnection, connections, requestsPerSecond },
    ...{ load: session.nextLoad(), warmUpMs: 0, durationMs, traced: true },
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
