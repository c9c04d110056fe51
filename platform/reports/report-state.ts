// What is known of a report's runs: one record for each place that a project has for reports, changed by compare-and-
// set alone. Its lease says which process works on the report. A run is written before anything is sent, and each mail
// when it is done, so that whatever dies, the record says what is left.

import { recordQuotaBytes } from '../broker/buckets.ts';
import { hasNumbers, hasTexts } from '../broker/record-bucket.ts';

/** A mail that a server refused, or that was given up. */
export interface FailedMail {
  /** A member's id, or the address of somebody else. */
  to: string;
  reason: string;
}

export interface RunRecord {
  /** UUID; the ids of its mails are made of it. */
  id: string;
  /** The zone's day on which it was due: no day has a second run. */
  day: number;
  dueMs: number;
  /** When a process first worked on it. */
  beginMs: number;
  /** Its period, half-open, in ms since the epoch. */
  fromMs: number;
  toMs: number;
  previousFromMs: number;
  /** Earlier ones that were due while nobody sent them. */
  leftOut: number;
  /** Nothing is left to do. */
  isDone: boolean;
  /** Some events of the period were not counted yet. */
  isIncomplete: boolean;
  /** Whose mail was taken; empty once all is done. */
  sentTo: readonly string[];
  sent: number;
  /** At most so many as there are recipients while it is sent, then five. */
  failures: readonly FailedMail[];
  failed: number;
  /** Tries in a row that failed, and the moment of the next. */
  tries: number;
  nextTryMs: number;
  /** Why it waits, or ended without a mail; else empty. */
  problem: string;
  /** When it was done; 0 before. */
  endMs: number;
}

export interface ReportStateRecord {
  schemaVersion: 1;
  /** Whose it is: another report's that is gone was in the same place. */
  reportId: string;
  /** The newest, the oldest of them first; only the last one may not be done. */
  runs: readonly RunRecord[];
  /** Other processes leave the report alone until then. */
  leaseEndMs: number;
}

/** The newest runs that a report keeps, and of each so many of the mails that failed. */
export const maxRuns = 20;
export const maxFailuresKept = 5;

/** Of a report that was never due. */
export function newReportState(reportId: string): ReportStateRecord {
  return { schemaVersion: 1, reportId, runs: [], leaseEndMs: 0 };
}

/** Below what the bucket lets a record grow to, as JSON: the lease's own fields and a run's numbers get longer. */
const maxRecordBytes = recordQuotaBytes.report_states - 1_024;

/**
 * The record as it can be written: addresses and servers' words may be long, and runs many. Where it is too large the
 * oldest runs lose first their list of failures, whose number stays, and then their place. The newest one is left as it
 * is: twenty recipients with the longest addresses and reasons fit.
 */
export function withinBounds(record: ReportStateRecord): ReportStateRecord {
  const isTooLarge = (runs: readonly RunRecord[]): boolean =>
    Buffer.byteLength(JSON.stringify({ ...record, runs })) > maxRecordBytes;
  let runs = [...record.runs];
  for (let place = 0; place < runs.length - 1 && isTooLarge(runs); place += 1) {
    runs = runs.map((run, index) => (index === place ? { ...run, failures: [] } : run));
  }
  while (runs.length > 1 && isTooLarge(runs)) runs = runs.slice(1);
  return { ...record, runs };
}

/** The key of the place, from 0, of one of the project's reports. */
export function reportStateKey(projectId: string, place: number): string {
  return `${projectId}.${place}`;
}

/** Narrows a value of the bucket. */
export function readReportState(value: unknown): ReportStateRecord | undefined {
  return isReportState(value) ? value : undefined;
}

function isReportState(value: unknown): value is ReportStateRecord {
  if (typeof value !== 'object' || value === null) return false;
  const runs: unknown = Reflect.get(value, 'runs');
  return (
    Reflect.get(value, 'schemaVersion') === 1 &&
    hasTexts(value, ['reportId']) &&
    hasNumbers(value, ['leaseEndMs']) &&
    Array.isArray(runs) &&
    runs.every(isRun)
  );
}

function isRun(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const times = [
    'day',
    'dueMs',
    'beginMs',
    'fromMs',
    'toMs',
    'previousFromMs',
    'nextTryMs',
    'endMs',
  ];
  return (
    hasTexts(value, ['id', 'problem']) &&
    hasNumbers(value, [...times, 'leftOut', 'sent', 'failed', 'tries']) &&
    ['isDone', 'isIncomplete'].every((name) => typeof Reflect.get(value, name) === 'boolean') &&
    Array.isArray(Reflect.get(value, 'sentTo')) &&
    Array.isArray(Reflect.get(value, 'failures'))
  );
}
