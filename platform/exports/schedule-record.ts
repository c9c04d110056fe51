// What is known of a scheduled export: one record for each place that a project has for them, changed by
// compare-and-set alone. Its lease says which process writes to the bucket. A file is told here once it was read back
// from the bucket, so that whatever dies, the record says what is left to do.

import type { JsonValue } from '@bufbuild/protobuf';
import { hasNumbers, hasTexts } from '../broker/record-bucket.ts';
import type { PartRecord } from './export-record.ts';

export const cadences = ['hourly', 'daily'] as const;
export type Cadence = (typeof cadences)[number];

export const scheduleStates = ['active', 'paused', 'deleted'] as const;
export type ScheduleStateName = (typeof scheduleStates)[number];

/** A bucket of somebody's own, and the key that opens it. */
export interface BucketTarget {
  /** An origin: `https://s3.eu-central-1.amazonaws.com`. */
  endpoint: string;
  region: string;
  bucket: string;
  /** Empty, or with a slash at its end. */
  prefix: string;
  /** Whether the bucket is the first part of the path, and not of the host's name. */
  isPathStyle: boolean;
  accessKeyId: string;
  /** Sealed with the instance key, for `scheduleSecretPurpose`. */
  sealedSecret: string;
}

/** The period that is being written. */
export interface PeriodProgress {
  fromMs: number;
  toMs: number;
  beginMs: number;
  /** All that was accepted before it is in the files. */
  completeUntilMs: number;
  partCount: number;
  /** Those that are in the bucket, in their order. */
  parts: readonly PartRecord[];
  /** Names of files that an earlier writing of the period has left; absent where there is no earlier one. */
  earlier?: readonly string[];
}

/** A period that is in the bucket. */
export interface WrittenPeriod {
  fromMs: number;
  toMs: number;
  files: number;
  rows: number;
  bytes: number;
  doneMs: number;
}

export interface ScheduleRecord {
  schemaVersion: 1;
  /** UUID. */
  id: string;
  displayName: string;
  /** Protobuf JSON of shared.exports.v1.ExportQuery. */
  query: JsonValue;
  cadence: Cadence;
  target: BucketTarget;
  state: ScheduleStateName;
  /** Why the service has paused it; else empty. */
  reason: string;
  /** The member who made it. */
  customerId: string;
  createMs: number;
  updateMs: number;
  /** Where the next period begins. */
  nextFromMs: number;
  progress?: PeriodProgress | undefined;
  last?: WrittenPeriod;
  /** The last failure in words, and its moment; empty and 0 where there was none. */
  lastError: string;
  lastErrorMs: number;
  /** Since when nothing works; 0 where it does. */
  failingSinceMs: number;
  /** What is to be told by mail; `nothing` once that is done. */
  telling: 'nothing' | 'failing' | 'paused';
  /** The failure, by its beginning, that was told last; 0 for none. */
  toldMs: number;
  /** Mails that could not be sent, and the moment of the next try. */
  tellTries: number;
  nextTellMs: number;
  /** Tries of the present step that failed, and the moment of the next. */
  tries: number;
  nextTryMs: number;
  /** Other processes leave it alone until then. */
  leaseEndMs: number;
}

/** Of a project. */
export const maxSchedules = 5;

/** The key of one of the project's places, from 0. */
export function scheduleKey(projectId: string, place: number): string {
  return `${projectId}.${place}`;
}

/** For the secret box: a secret that is moved to another record does not open there. */
export function scheduleSecretPurpose(id: string): string {
  return `export-schedule:${id}`;
}

/** Narrows a value of the bucket. */
export function readScheduleRecord(value: unknown): ScheduleRecord | undefined {
  return isScheduleRecord(value) ? value : undefined;
}

const texts = ['id', 'displayName', 'cadence', 'state', 'reason', 'customerId', 'lastError'];
const numbers = [
  ...['createMs', 'updateMs', 'nextFromMs', 'lastErrorMs', 'failingSinceMs', 'toldMs'],
  ...['tellTries', 'nextTellMs', 'tries', 'nextTryMs', 'leaseEndMs'],
];
const targetTexts = ['endpoint', 'region', 'bucket', 'prefix', 'accessKeyId', 'sealedSecret'];
const progressNumbers = ['fromMs', 'toMs', 'beginMs', 'completeUntilMs', 'partCount'];

function isScheduleRecord(value: unknown): value is ScheduleRecord {
  if (typeof value !== 'object' || value === null) return false;
  const member = (name: string): unknown => Reflect.get(value, name);
  const target = member('target');
  const progress = member('progress');
  return (
    member('schemaVersion') === 1 &&
    hasTexts(value, [...texts, 'telling']) &&
    hasNumbers(value, numbers) &&
    cadences.some((cadence) => cadence === member('cadence')) &&
    scheduleStates.some((state) => state === member('state')) &&
    typeof member('query') === 'object' &&
    typeof target === 'object' &&
    target !== null &&
    hasTexts(target, targetTexts) &&
    (progress === undefined || isProgress(progress))
  );
}

function isProgress(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return hasNumbers(value, progressNumbers) && Array.isArray(Reflect.get(value, 'parts'));
}
