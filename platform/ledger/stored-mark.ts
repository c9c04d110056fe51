// How far the writer of a shard's events is, as its ledger says it: read by those who have to know which messages are
// rows by now.

import { hasTexts, type RecordBucket, type VersionedRecord } from '../broker/record-bucket.ts';
import { eventsLedgerKey } from '../broker/streams.ts';

export interface LedgerMark extends VersionedRecord {
  streamCreated: string;
  hwm: number;
  /** Ascending ranges of messages beyond it that are done too. */
  ahead: readonly (readonly [number, number])[];
}

/** Narrows a record of the bucket `ledger`. */
export function readLedgerMark(value: unknown): LedgerMark | undefined {
  if (typeof value !== 'object' || value === null || !hasTexts(value, ['streamCreated'])) {
    return undefined;
  }
  const hwm: unknown = Reflect.get(value, 'hwm');
  const ahead: unknown = Reflect.get(value, 'ahead') ?? [];
  if (typeof hwm !== 'number' || !Array.isArray(ahead) || !ahead.every(isRange)) return undefined;
  return { schemaVersion: 1, streamCreated: value.streamCreated, hwm, ahead };
}

/** Undefined where the shard has never stored an event. Throws where this version cannot read the ledger. */
export async function markOf(
  ledgers: Pick<RecordBucket<LedgerMark>, 'get'>,
  shard: number,
): Promise<LedgerMark | undefined> {
  const read = await ledgers.get(eventsLedgerKey(shard));
  if (read.kind === 'unreadable') throw new Error(`the ledger of shard ${shard} cannot be read`);
  return read.kind === 'found' ? read.record : undefined;
}

function isRange(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger);
}
