// Waits until every event that was queued before the persons were hidden is a row: from then on no message of theirs is
// on its way that the cut would miss.

import { buckets } from '../../platform/broker/buckets.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { eventsStream } from '../../platform/broker/streams.ts';
import { shardOf } from '../../platform/broker/topology.ts';
import type { ErasureBatch, ErasureRecord } from '../../platform/erasure/erasure-record.ts';
import { markOf, readLedgerMark } from '../../platform/ledger/stored-mark.ts';
import type { ErasureParts, StepContext, StepEnd } from '../erasure-parts.ts';

export async function awaitQueue(
  parts: ErasureParts,
  { batch, requests, keep }: StepContext,
): Promise<StepEnd> {
  const queued = batch.queued ?? (await queuedOf(parts, requests));
  if (batch.queued === undefined) await keep({ ...batch, queued });
  const ledgers = await openBucket(parts.nats, buckets.ledger, readLedgerMark);
  for (const { shard, streamCreated, hwm } of queued) {
    if (hwm === 0) continue;
    const mark = await markOf(ledgers, shard);
    // Of another stream: the messages of this one are gone, or its writer has not begun.
    const isBefore =
      mark === undefined || Date.parse(mark.streamCreated) < Date.parse(streamCreated);
    if (isBefore || (mark.streamCreated === streamCreated && mark.hwm < hwm)) return 'later';
  }
  return 'done';
}

export function shardsOf(requests: readonly ErasureRecord[], shards: number): number[] {
  return [...new Set(requests.map(({ projectId }) => shardOf(projectId, shards)))];
}

async function queuedOf(
  { nats, shards }: ErasureParts,
  requests: readonly ErasureRecord[],
): Promise<NonNullable<ErasureBatch['queued']>> {
  const { streams } = await nats.jetstreamManager();
  return Promise.all(
    shardsOf(requests, shards).map(async (shard) => {
      const { created, state } = await streams.info(eventsStream(shard));
      return { shard, streamCreated: created, hwm: state.last_seq };
    }),
  );
}
