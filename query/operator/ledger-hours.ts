// OperatorService.ListLedgerHours: the accounts of all shards put together, hour by hour.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, hourMs } from '../../platform/clock.ts';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import { keptHours, type LedgerHour } from '../../platform/ledger/ledger-hours.ts';
import type { ShardAccount } from '../../platform/ledger/shard-account.ts';
import {
  type LedgerCounts,
  LedgerCountsSchema,
  LedgerHourSchema,
  type ListLedgerHoursRequest,
  type ListLedgerHoursResponse,
  ListLedgerHoursResponseSchema,
} from '../../proto/gen/dashboard/operator/v1/operator_pb.js';

interface LedgerOptions {
  /** The accounts of all shards. */
  accounts(): Promise<readonly ShardAccount[]>;
  queuedMessages(): Promise<number | undefined>;
  clock: Clock;
}

const usualHours = 168;

type Counts = Omit<LedgerHour, 'startMs'>;

/** Throws invalid_argument for more hours than are kept, and the broker's errors. */
export async function listLedgerHours(
  { accounts, queuedMessages, clock }: LedgerOptions,
  { hours }: ListLedgerHoursRequest,
): Promise<ListLedgerHoursResponse> {
  if (hours > keptHours) throw invalidArgument('hours', `must be from 1 to ${keptHours}`);
  const fromMs = clock.nowMs() - (hours || usualHours) * hourMs;
  // Before the accounts: a message in between is counted here or there, or in both, and never in neither.
  const queued = await queuedMessages();
  const shards = await accounts();
  const byStart = new Map<number, Counts>();
  for (const hour of shards.flatMap((shard) => shard.hours)) {
    // An hour that began before still reaches into the range.
    if (hour.startMs + hourMs <= fromMs) continue;
    byStart.set(hour.startMs, sum(byStart.get(hour.startMs), hour));
  }
  const newestFirst = [...byStart].sort(([a], [b]) => b - a);
  const totals = shards.reduce<Counts>((all, shard) => sum(all, shard.totals), none);
  const response = create(ListLedgerHoursResponseSchema, { totals: message(totals) });
  if (queued !== undefined) response.queuedMessages = BigInt(queued);
  response.hours = newestFirst.map(([startMs, counts]) =>
    create(LedgerHourSchema, { startTime: timestampFromMs(startMs), counts: message(counts) }),
  );
  return response;
}

const none: Counts = { accepted: 0, stored: 0, duplicates: 0, deadLetters: 0, lostMessages: 0 };

function sum(a: Counts = none, b: Counts): Counts {
  return {
    accepted: a.accepted + b.accepted,
    stored: a.stored + b.stored,
    duplicates: a.duplicates + b.duplicates,
    deadLetters: a.deadLetters + b.deadLetters,
    lostMessages: a.lostMessages + b.lostMessages,
  };
}

function message(counts: Counts): LedgerCounts {
  const { accepted, stored, duplicates, deadLetters, lostMessages } = counts;
  return create(LedgerCountsSchema, {
    accepted: BigInt(accepted),
    stored: BigInt(stored),
    duplicates: BigInt(duplicates),
    deadLetters: BigInt(deadLetters),
    difference: BigInt(accepted - stored - duplicates - deadLetters),
    lostMessages: BigInt(lostMessages),
  });
}
