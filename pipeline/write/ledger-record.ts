// The ledger's record as the broker keeps it: its form, how it is read, and how sequences are written into it.
// ledger.ts changes it.

import type { VersionedRecord } from '../../platform/broker/record-bucket.ts';
import {
  isLedgerCounts,
  isLedgerHour,
  type LedgerCounts,
  type LedgerHour,
} from '../../platform/ledger/ledger-hours.ts';

export const schemaVersion = 1;

/** The insert of a batch; of profiles, one block. */
interface PendingInsert {
  /** 202611: older versions made an insert for each month of a batch. 0 in their promises of profiles. */
  month?: number;
  /** The deduplication token, which stands for exactly these rows in this order for ever; of profiles, the version. */
  token: string;
  rows: number;
  idsHash: string;
}

/** A promised batch, whose rows may be in the tables or not. */
export interface Pending {
  /** Stream sequences, as ascending inclusive ranges. */
  seqs: [number, number][];
  /** With this batch every message up to here is done. Absent: up to the batch's last one. */
  completeTo?: number;
  /** A bitmap in base64 of the rows left out as stored before; absent where there are none. */
  dropped?: string;
  /** None where no row is left, else one; several only of older versions. */
  inserts: PendingInsert[];
  counts: Totals;
}

export type Totals = LedgerCounts;

/** A sequence, and when the broker stored the newest message up to it, by its clock: a newer one there is another. */
export interface SequenceTime {
  seq: number;
  newestMs: number;
}

export interface LedgerRecord extends VersionedRecord {
  /** The time at which the stream was made: a stream made anew counts from 1 again. */
  streamCreated: string;
  /** Every message up to this sequence is done: its rows are in the tables and its dead letters published. */
  hwm: number;
  /** The messages beyond it that are done, too, as ascending ranges: those of projects whose turn came earlier. */
  ahead?: [number, number][];
  pending?: Pending;
  /** Of the last sequence that is done or promised; an older version, which knows no times, leaves it behind. */
  newest?: SequenceTime;
  /** Under this sequence a writer has found another message than was done. */
  lost?: SequenceTime;
  totals: Totals;
  /** All messages that the stream lost before they were done. */
  lostMessages?: number;
  /** The account of the hour in which the last batch was done. */
  hour?: LedgerHour;
  /** The account of the hour before it that had a batch; it may not be in the bucket of hours yet. */
  closed?: LedgerHour;
  /** The writer and its write count: recognises one's own write whose answer was lost. */
  writer: string;
  step: number;
}

/** The last sequence that is done. */
export function lastDoneOf({ hwm, ahead }: Pick<LedgerRecord, 'hwm' | 'ahead'>): number {
  return ahead?.at(-1)?.[1] ?? hwm;
}

/** The last sequence that is done or promised. */
export function lastPromisedOf(record: Pick<LedgerRecord, 'hwm' | 'ahead' | 'pending'>): number {
  return Math.max(lastDoneOf(record), record.pending?.seqs.at(-1)?.[1] ?? 0);
}

/** Narrows a record's JSON; undefined where it has another version or is damaged. */
export function readLedgerRecord(value: unknown): LedgerRecord | undefined {
  return isRecord(value) ? value : undefined;
}

/** The sequences of a batch as ascending inclusive ranges. */
export function rangesOf(seqs: ArrayLike<number>): [number, number][] {
  const ranges: [number, number][] = [];
  for (let index = 0; index < seqs.length; index++) {
    const seq = seqs[index] ?? 0;
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === seq) last[1] = seq;
    else ranges.push([seq, seq]);
  }
  return ranges;
}

function isRecord(value: unknown): value is LedgerRecord {
  if (typeof value !== 'object' || value === null) return false;
  const record: Partial<Record<keyof LedgerRecord, unknown>> = value;
  return (
    record.schemaVersion === schemaVersion &&
    typeof record.streamCreated === 'string' &&
    typeof record.hwm === 'number' &&
    typeof record.writer === 'string' &&
    typeof record.step === 'number' &&
    isLedgerCounts(record.totals) &&
    ['number', 'undefined'].includes(typeof record.lostMessages) &&
    (record.ahead === undefined || isRanges(record.ahead)) &&
    [record.hour, record.closed].every((hour) => hour === undefined || isLedgerHour(hour)) &&
    [record.newest, record.lost].every((time) => time === undefined || isSequenceTime(time)) &&
    (record.pending === undefined || isPending(record.pending))
  );
}

function isSequenceTime(value: unknown): value is SequenceTime {
  if (typeof value !== 'object' || value === null) return false;
  const { seq, newestMs }: Partial<Record<keyof SequenceTime, unknown>> = value;
  return typeof seq === 'number' && typeof newestMs === 'number';
}

function isPending(value: unknown): value is Pending {
  if (typeof value !== 'object' || value === null) return false;
  const pending: Partial<Record<keyof Pending, unknown>> = value;
  return (
    ['number', 'undefined'].includes(typeof pending.completeTo) &&
    Array.isArray(pending.seqs) &&
    Array.isArray(pending.inserts) &&
    isLedgerCounts(pending.counts)
  );
}

function isRanges(value: unknown): value is [number, number][] {
  return (
    Array.isArray(value) &&
    value.every(
      (range) => Array.isArray(range) && range.length === 2 && range.every(Number.isSafeInteger),
    )
  );
}
