// The tables of the bench `age`: merges of the filled table beside those of the simulated one, CPU and bytes of the
// filled one, and the simulated one until a billion rows.

import type { Table } from '../../bench.ts';
import { type Arrival, simulateMerges } from '../../harness/engine/merge-simulation.ts';
import type { Watched } from '../../harness/engine/part-watch.ts';
import type { Gauged } from './age-gauge.ts';

/** A table at a number of rows. */
export interface Age extends Gauged {
  rows: number;
  /** Until the last of these rows was stored. */
  fillSeconds: number;
  /** Whether nothing is left to be merged; otherwise inserts go on. */
  isMerged: boolean;
  /** Inserts that were tried again. */
  failures: number;
}

/** Inserts of a service that keeps up have the events of a second, at most 50,000; one that is behind has 100,000. */
const paces = [
  { rowsPerSecond: 30_000, rowsPerInsert: 30_000 },
  { rowsPerSecond: 70_000, rowsPerInsert: 50_000 },
  { rowsPerSecond: 70_000, rowsPerInsert: 100_000 },
];
/** Of the benches' events. */
const usual = { freshBytesPerRow: 95, mergedBytesPerRow: 90, mergeUs: 4 };

export function mergesTable(ages: readonly Age[], rowsPerInsert: number): Table {
  return {
    title:
      `Merges of events in a new table, filled by inserts of ${whole(rowsPerInsert)} rows on two connections as ` +
      'fast as the engine takes them: rewrites of a row until then, parts',
    columns: [
      ...['rows', 'rows/s', 'rewrites', 'simulated', 'parts, mean', 'simulated mean'],
      ...['parts, most', 'simulated most', 'us a row by the clock'],
    ],
    rows: ages.map((age) => {
      const { rows, fillSeconds, watched } = age;
      const pace = { rowsPerSecond: rows / fillSeconds, rowsPerInsert };
      const clockUs = (1e6 * watched.eventsMergeSeconds) / watched.rewrittenRows;
      const { aged, merged } = simulateMerges({ ...pace, ...mergedRowOf(watched, clockUs) }, [
        rows,
      ]);
      const simulated = age.isMerged ? merged : (aged[0] ?? merged);
      return [
        ...[nameOf(age), whole(rows / fillSeconds)],
        ...[(watched.rewrittenRows / rows).toFixed(2), simulated.rewrites.toFixed(2)],
        ...[watched.partsMean.toFixed(1), simulated.partsMean.toFixed(1)],
        ...[String(watched.partsMost), String(simulated.partsMost), figure(clockUs)],
      ];
    }),
  };
}

export function costTable(ages: readonly Age[]): Table {
  return {
    title: 'What an event cost until then, in all tables: CPU microseconds, and bytes on the disk',
    columns: [
      ...['rows', 'inserts and views us', 'merges us', 'share of events', 'us a rewrite of events'],
      ...['making batches us', 'inserts tried again', 'bytes in events', 'bytes'],
    ],
    rows: ages.map((age) => {
      const { rows, insertMs, mergeMs, makingMs, watched } = age;
      const { eventsBytes, bytes } = watched;
      const us = (cpuMs: number): string => ((1_000 * cpuMs) / rows).toFixed(2);
      return [
        ...[nameOf(age), us(insertMs), us(mergeMs)],
        ...[figure(watched.eventsMergeSeconds / watched.mergeSeconds), figure(rewriteUs(age))],
        ...[us(makingMs), String(age.failures)],
        ...[(eventsBytes / rows).toFixed(1), (bytes / rows).toFixed(1)],
      ];
    }),
  };
}

/** `age` says how large rows are and how much CPU a rewrite takes, which is its time where cores are free. */
export function curveTable(age: Age, marks: readonly number[]): Table {
  const row = mergedRowOf(age.watched, rewriteUs(age));
  const { freshBytesPerRow, mergedBytesPerRow, mergeSecondsPerRow } = row;
  return {
    title:
      `Simulated: rewrites of a row of events, where a rewrite takes ${(1e6 * mergeSecondsPerRow).toFixed(1)} us and ` +
      `a row ${freshBytesPerRow.toFixed(0)} bytes, ${mergedBytesPerRow.toFixed(0)} merged`,
    columns: [
      ...['rows/s', 'rows an insert', ...marks.map((rows) => `at ${whole(rows)}`)],
      ...['parts, mean', 'parts, most'],
    ],
    rows: paces.map((pace) => {
      const { aged } = simulateMerges({ ...pace, ...row }, marks);
      const last = aged.at(-1);
      return [
        ...[whole(pace.rowsPerSecond), whole(pace.rowsPerInsert)],
        ...aged.map(({ rewrites }) => rewrites.toFixed(2)),
        ...[last?.partsMean.toFixed(1) ?? '', String(last?.partsMost ?? '')],
      ];
    }),
  };
}

/** CPU: the share of the merges of events in that of all merges is that of their time. */
function rewriteUs({ mergeMs, watched }: Age): number {
  const { eventsMergeSeconds, mergeSeconds, rewrittenRows } = watched;
  return (1_000 * mergeMs * eventsMergeSeconds) / mergeSeconds / rewrittenRows;
}

/** Where merges were too few to tell, the usual sizes and time. */
function mergedRowOf(
  { freshBytesPerRow, mergedBytesPerRow }: Watched,
  mergeUs: number,
): Omit<Arrival, 'rowsPerSecond' | 'rowsPerInsert'> {
  const known = (value: number, otherwise: number): number =>
    value > 0 && Number.isFinite(value) ? value : otherwise;
  return {
    freshBytesPerRow: known(freshBytesPerRow, usual.freshBytesPerRow),
    mergedBytesPerRow: known(mergedBytesPerRow, usual.mergedBytesPerRow),
    mergeSecondsPerRow: known(mergeUs, usual.mergeUs) / 1e6,
  };
}

function nameOf({ rows, isMerged }: Age): string {
  return isMerged ? `${whole(rows)}, nothing left to merge` : whole(rows);
}

/** Empty where nothing was merged. */
function figure(value: number): string {
  return Number.isFinite(value) ? value.toFixed(2) : '';
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
