// The account of a shard's events by hour. Its writer counts an hour inside the ledger's own record, under the same
// compare-and-set as the promise that makes rows land once, and moves a closed hour to the bucket `ledger_hours`.
// Whoever reads puts both together. pipeline/write/ledger.ts writes the ledger.

import type { RecordBucket, VersionedRecord } from '../broker/record-bucket.ts';
import { hourMs } from '../clock.ts';

/** Events by what became of them; accepted = stored + duplicates + deadLetters. */
export interface LedgerCounts {
  accepted: number;
  stored: number;
  duplicates: number;
  deadLetters: number;
}

/** The batches that were done in one hour. */
export interface LedgerHour extends LedgerCounts {
  startMs: number;
  /** Sequences of the stream that were passed over: the broker acknowledged these messages and lost them. */
  lostMessages: number;
}

/** The closed hours of one shard, oldest first. */
export interface HoursRecord extends VersionedRecord {
  schemaVersion: 1;
  hours: readonly LedgerHour[];
}

/** 90 days. */
export const keptHours = 2_160;

export const hoursKey = (shard: number): string => `shard.${shard}`;

type HoursBucket = Pick<RecordBucket<HoursRecord>, 'get' | 'create' | 'update'>;

/** Adds a closed hour, once however often it is called with it. `conflict`: call again. */
export async function keepHour(
  bucket: HoursBucket,
  shard: number,
  hour: LedgerHour,
): Promise<'kept' | 'conflict'> {
  const key = hoursKey(shard);
  const found = await bucket.get(key);
  const before = found.kind === 'found' ? found.record.hours : [];
  if (before.some(({ startMs }) => startMs === hour.startMs)) return 'kept';
  const oldestMs = hour.startMs - keptHours * hourMs;
  const hours = [...before.filter(({ startMs }) => startMs > oldestMs), hour];
  const record: HoursRecord = { schemaVersion: 1, hours };
  const { kind } =
    found.kind === 'absent'
      ? await bucket.create(key, record)
      : await bucket.update(key, record, found.revision);
  return kind === 'written' ? 'kept' : 'conflict';
}

/** Narrows parsed JSON to a record; undefined if it is none. */
export function readHours(value: unknown): HoursRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const hours: unknown = Reflect.get(value, 'hours');
  if (Reflect.get(value, 'schemaVersion') !== 1 || !Array.isArray(hours)) return undefined;
  return hours.every(isLedgerHour) ? { schemaVersion: 1, hours } : undefined;
}

const countNames = ['accepted', 'stored', 'duplicates', 'deadLetters'] as const;

export function isLedgerCounts(value: unknown): value is LedgerCounts {
  return (
    typeof value === 'object' &&
    value !== null &&
    countNames.every((name) => typeof Reflect.get(value, name) === 'number')
  );
}

export function isLedgerHour(value: unknown): value is LedgerHour {
  return (
    isLedgerCounts(value) &&
    ['startMs', 'lostMessages'].every((name) => typeof Reflect.get(value, name) === 'number')
  );
}
