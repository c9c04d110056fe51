// Reads the whole account of one shard: the ledger's totals, its open hour, and the closed hours.

import { buckets } from '../broker/buckets.ts';
import type { NatsConnection } from '../broker/nats.ts';
import { openBucket, type VersionedRecord } from '../broker/record-bucket.ts';
import { eventsLedgerKey } from '../broker/streams.ts';
import {
  hoursKey,
  isLedgerCounts,
  isLedgerHour,
  type LedgerCounts,
  type LedgerHour,
  readHours,
} from './ledger-hours.ts';

/** The part of a ledger's record that is read here. */
interface AccountRecord extends VersionedRecord {
  totals: LedgerCounts;
  lostMessages: number;
  hours: readonly LedgerHour[];
}

export interface ShardAccount {
  totals: LedgerCounts & { lostMessages: number };
  /** In no order, each hour once. */
  hours: readonly LedgerHour[];
}

/** Zeros for a shard that has stored nothing yet. Throws the broker's errors. */
export async function readShardAccount(nats: NatsConnection, shard: number): Promise<ShardAccount> {
  const [ledgers, closed] = await Promise.all([
    openBucket(nats, buckets.ledger, readAccountRecord),
    openBucket(nats, buckets.ledgerHours, readHours),
  ]);
  // The ledger first: an hour leaves it only after the bucket has it.
  const ledger = await ledgers.get(eventsLedgerKey(shard));
  const kept = await closed.get(hoursKey(shard));
  const byStart = new Map<number, LedgerHour>();
  const open = ledger.kind === 'found' ? ledger.record.hours : [];
  for (const hour of [...(kept.kind === 'found' ? kept.record.hours : []), ...open]) {
    byStart.set(hour.startMs, hour);
  }
  const none = {
    totals: { accepted: 0, stored: 0, duplicates: 0, deadLetters: 0 },
    lostMessages: 0,
  };
  const { totals, lostMessages } = ledger.kind === 'found' ? ledger.record : none;
  return { totals: { ...totals, lostMessages }, hours: [...byStart.values()] };
}

function readAccountRecord(value: unknown): AccountRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const totals: unknown = Reflect.get(value, 'totals');
  if (!isLedgerCounts(totals)) return undefined;
  const lost: unknown = Reflect.get(value, 'lostMessages');
  const hours = [Reflect.get(value, 'closed'), Reflect.get(value, 'hour')].filter(isLedgerHour);
  return { schemaVersion: 1, totals, lostMessages: typeof lost === 'number' ? lost : 0, hours };
}
