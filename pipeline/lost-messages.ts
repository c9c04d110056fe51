// Finds a stream that ends before its ledger's mark: the broker has lost the latest messages, as a cut of its power can
// make it. It would give their sequences to new messages, and the writer would take each of these for one that is done.

import { buckets } from '../platform/broker/buckets.ts';
import type { NatsConnection } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import {
  eventsLedgerKey,
  eventsStream,
  eventsSubject,
  profilesLedgerKey,
  profilesStream,
  profilesSubject,
} from '../platform/broker/streams.ts';
import type { Log } from '../platform/log.ts';
import { queueState } from './consume/queue-state.ts';
import type { Ledger } from './write/ledger.ts';
import { lastDoneOf, readLedgerRecord } from './write/ledger-record.ts';
import type { WriterEnd } from './write/writer-state.ts';

type Mark = Pick<Ledger, 'lastDone' | 'streamCreated'>;

const queues = [
  { streamOf: eventsStream, subjectOf: eventsSubject, keyOf: eventsLedgerKey },
  { streamOf: profilesStream, subjectOf: profilesSubject, keyOf: profilesLedgerKey },
] as const;
const atOnce = 256;
const nothing = new Uint8Array();

/** Why a writer cannot go on; undefined where it can. Call it once the ledger is taken over. */
export async function haltedByLoss(
  nats: NatsConnection,
  stream: string,
  mark: Mark,
): Promise<WriterEnd | undefined> {
  const endsAt = await endBefore(nats, stream, mark);
  if (endsAt === undefined) return undefined;
  return {
    kind: 'halted',
    reason:
      `the broker has lost messages: ${stream} ends at ${endsAt}, and those up to ${mark.lastDone} are done. New ones ` +
      'would be taken for done: put the broker’s store back, or delete the stream with what it holds',
  };
}

/**
 * Fills each lost stream up to its mark with messages that hold nothing, so that no new one is taken for done. Call it
 * before anybody publishes. Throws the broker's errors.
 */
export async function passLostMessages(options: {
  nats: NatsConnection;
  shards: number;
  log: Log;
}): Promise<void> {
  const { nats, shards, log } = options;
  const ledgers = await openBucket(nats, buckets.ledger, readLedgerRecord);
  for (const { streamOf, subjectOf, keyOf } of queues) {
    for (let shard = 0; shard < shards; shard++) {
      const read = await ledgers.get(keyOf(shard));
      if (read.kind !== 'found') continue;
      const { streamCreated } = read.record;
      const lastDone = lastDoneOf(read.record);
      const stream = streamOf(shard);
      const endsAt = await endBefore(nats, stream, { lastDone, streamCreated });
      if (endsAt === undefined) continue;
      const fields = { stream, endsAt, lastDone };
      log.error(fields, 'the broker has lost messages, and goes on behind them');
      await fill(nats, subjectOf(shard), lastDone - endsAt);
    }
  }
}

async function endBefore(
  nats: NatsConnection,
  stream: string,
  { lastDone, streamCreated }: Mark,
): Promise<number | undefined> {
  const { created, lastSeq } = await queueState(nats, stream);
  return created === streamCreated && lastSeq < lastDone ? lastSeq : undefined;
}

async function fill(nats: NatsConnection, subject: string, messages: number): Promise<void> {
  const jetstream = nats.jetstream();
  for (let from = 0; from < messages; from += atOnce) {
    const count = Math.min(atOnce, messages - from);
    await Promise.all(Array.from({ length: count }, () => jetstream.publish(subject, nothing)));
  }
}
