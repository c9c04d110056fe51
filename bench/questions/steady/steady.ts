// Ten minutes at half of the machine's full load: does memory stay the same, do events stay as quickly queryable, are
// parts merged as fast as they come?

import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Part, Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Session, type Table } from '../../bench.ts';
import type { LoadOptions, LoadResult } from '../../harness/load/load.ts';
import {
  countDistinctEvents,
  countRows,
  queryNumber,
  type RowWatch,
  visibleAfterMs,
  watchRows,
} from '../../harness/load/stored-rows.ts';
import { median } from '../../harness/pairs.ts';
import { runLoadProcess } from '../../harness/processes/processes.ts';
import { cpuOfParts, memoryOfParts, parts, sumOf } from '../../harness/usage.ts';

interface Parameters {
  batch: number;
  connections: number;
  /** A closed loop; the steady load is a share of its rate of queryable events. */
  fullLoadMs: number;
  steadyMs: number;
}

const smoke: Parameters = { batch: 10, connections: 2, fullLoadMs: 300, steadyMs: 1_000 };
const real: Parameters = { batch: 100, connections: 16, fullLoadMs: 10_000, steadyMs: 600_000 };

const share = 0.5;
const seed = 6;
const bodiesPerConnection = 16;
const sampleMs = 1_000;
const smokeSampleMs = 100;
const pollMs = 100;
// A neighbour's load can leave a backlog, which the lag then shows.
const drainTimeoutMs = 600_000;
/** Stretches of the run: caches fill and code is compiled in the first, which counts in no slope. */
const stretches = 10;

export const steadyBench: Bench = {
  name: 'steady',
  question: 'Do memory, lag and parts stay where they are in ten minutes of load?',
  async run(mode, session) {
    const parameters = mode === 'smoke' ? smoke : real;
    const stack = await session.stack();
    const before = await countRows(stack);
    const watch = watchRows(stack, pollMs);
    const full = await loadOf(stack, session, parameters, parameters.fullLoadMs, 0);
    const rowsBefore = before + full.acknowledgedEvents;
    const allSeenMs = await watch.until(rowsBefore, drainTimeoutMs);
    const tookMs = allSeenMs - (full.trace[0]?.[0] ?? allSeenMs - 1);
    const perSecond = (share * 1_000 * full.acknowledgedEvents) / (parameters.batch * tookMs);
    const sampled = sample(stack, mode === 'smoke' ? smokeSampleMs : sampleMs);
    const cpuBefore = cpuOfParts(stack);
    const load = await loadOf(stack, session, parameters, parameters.steadyMs, perSecond).finally(
      () => sampled.stop(),
    );
    const samples = await sampled.stop();
    const busyMs = sumOf(cpuOfParts(stack)) - sumOf(cpuBefore) + load.cpuMs;
    await watch.until(rowsBefore + load.acknowledgedEvents, drainTimeoutMs);
    await watch.stop();
    const rows = await countRows(stack);
    const distinct = await countDistinctEvents(stack);
    check(rows === distinct, `${rows} rows are of ${distinct} events`);
    check(rows === rowsBefore + load.acknowledgedEvents, 'what was acknowledged is stored');
    const busy = busyMs / (parameters.steadyMs * availableParallelism());
    return {
      tables: [memoryTable(samples), loadTable(load, rowsBefore, watch, samples, busy)],
      resultHash: createHash('sha256')
        .update(`${rows - distinct} rows too many`)
        .digest('hex'),
    };
  },
};

function loadOf(
  stack: Stack,
  session: Session,
  { batch, connections }: Parameters,
  durationMs: number,
  requestsPerSecond: number,
): Promise<LoadResult> {
  const options: LoadOptions = {
    ...{ baseUrl: stack.baseUrl, key: stack.publicKey, size: 'medium', batch, seed },
    ...{ bodiesPerConnection, connections, requestsPerSecond },
    ...{ load: session.nextLoad(), warmUpMs: 0, durationMs, traced: true },
  };
  return runLoadProcess(options);
}

interface Sample {
  atMs: number;
  bytes: Record<Part, number>;
  /** Active parts of the table `events`. */
  parts: number;
}

/** Samples memory and parts until stopped. */
function sample(stack: Stack, everyMs: number): { stop(): Promise<Sample[]> } {
  const samples: Sample[] = [];
  let stopped = false;
  const ended = (async () => {
    while (!stopped) {
      const bytes = memoryOfParts(stack);
      const count = "SELECT count() FROM system.parts WHERE active AND table = 'events'";
      samples.push({ atMs: performance.now(), bytes, parts: await queryNumber(stack, count) });
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  return {
    async stop() {
      stopped = true;
      await ended;
      return samples;
    },
  };
}

function memoryTable(samples: readonly Sample[]): Table {
  const of = (pick: (bytes: Record<Part, number>) => number): string[] => {
    const values = samples.map(({ atMs, bytes }) => ({ atMs, value: pick(bytes) / 1_048_576 }));
    const at = (stretch: number): string =>
      median(stretchOf(values, stretch).map(({ value }) => value)).toFixed(0);
    const peak = Math.max(...values.map(({ value }) => value));
    const settled = values.slice(Math.floor(values.length / stretches));
    return [
      ...[at(0), at(stretches / 2), at(stretches - 1)],
      ...[peak.toFixed(0), (60_000 * slope(settled)).toFixed(1)],
    ];
  };
  return {
    title: 'Resident MiB: medians of the first, a middle and the last tenth of the time',
    columns: ['process', 'start', 'middle', 'end', 'highest', 'MiB/min'],
    rows: [...parts.map((part) => [part, ...of((b) => b[part])]), ['together', ...of(sumOf)]],
  };
}

function loadTable(
  load: LoadResult,
  rowsBefore: number,
  watch: RowWatch,
  samples: readonly Sample[],
  busy: number,
): Table {
  const latencies = visibleAfterMs(load.trace, rowsBefore, watch);
  const at = (of: number): string =>
    (latencies[Math.floor(of * (latencies.length - 1))] ?? 0).toFixed(0);
  const perSecond = Math.round((1_000 * load.acknowledgedEvents) / load.countedMs);
  return {
    title: `At ${share} of a full load's rate: milliseconds until queryable, parts of events, share of all cores`,
    columns: ['events/s', 'p50', 'p99', 'max', 'parts at the end', 'most parts', 'cores busy'],
    rows: [
      [
        ...[perSecond.toLocaleString('en-US'), at(0.5), at(0.99), at(1)],
        ...[String(samples.at(-1)?.parts), String(Math.max(...samples.map((s) => s.parts)))],
        busy.toFixed(2),
      ],
    ],
  };
}

function stretchOf<T>(values: readonly T[], stretch: number): readonly T[] {
  const from = Math.min(values.length - 1, Math.floor((values.length * stretch) / stretches));
  const to = Math.floor((values.length * (stretch + 1)) / stretches);
  return values.slice(from, Math.max(from + 1, to));
}

/** The slope of the straight line that fits best, per millisecond; 0 for a single point. */
function slope(points: readonly { atMs: number; value: number }[]): number {
  const mean = (pick: (point: { atMs: number; value: number }) => number): number =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const atMs = mean((point) => point.atMs);
  const value = mean((point) => point.value);
  const spread = mean((point) => (point.atMs - atMs) ** 2);
  return spread === 0 ? 0 : mean((p) => (p.atMs - atMs) * (p.value - value)) / spread;
}
