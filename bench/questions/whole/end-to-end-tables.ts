// The tables of the end-to-end bench: throughput, the time until an event is queryable, CPU and memory by process.

import { availableParallelism } from 'node:os';
import type { Part } from '../../../test/harness/servers/stack.ts';
import type { Table } from '../../bench.ts';
import { median } from '../../harness/pairs.ts';
import { parts, sumOf } from '../../harness/usage.ts';
import type { FullLoad, HalfLoad } from './end-to-end-loads.ts';

export function throughputTable(full: readonly FullLoad[], batch: number): Table {
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

/** The mean over all events: it is chance which run pays for merging the rows of others. */
function meanOf(full: readonly FullLoad[], pick: (run: FullLoad) => number): number {
  const events = full.reduce((sum, run) => sum + run.events, 0);
  return full.reduce((sum, run) => sum + pick(run) * run.events, 0) / events;
}

/** CPU microseconds of an event in all processes. */
function togetherUs({ cpuUs, mergeUs, loadCpuUs }: FullLoad): number {
  return parts.reduce((sum, part) => sum + cpuUs[part], mergeUs + loadCpuUs);
}

export function lagTable(half: HalfLoad): Table {
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

/** `viewsUs`: CPU of the views for an event. It is taken off the inserts, which cannot be divided in the service. */
export function usageTable(
  full: readonly FullLoad[],
  viewsUs: number,
  peak: Record<Part, number>,
): Table {
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
      ['service', cpu('service').toFixed(2), mebibytes(peak.service)],
      ['broker', cpu('broker').toFixed(2), mebibytes(peak.broker)],
      ['engine: inserts and reads', (cpu('engine') - viewsUs).toFixed(2), mebibytes(peak.engine)],
      ['engine: views of the inserts', viewsUs.toFixed(2), ''],
      ['engine: merges', merges.toFixed(2), ''],
      ['load generator', load.toFixed(2), ''],
      ['together', total.toFixed(2), mebibytes(sumOf(peak))],
      ['engine by itself', meanOf(full, (run) => run.engine.cpuUs).toFixed(2), ''],
      ['merges of it', meanOf(full, (run) => run.engine.mergeUs).toFixed(2), ''],
    ],
  };
}
