// Finds a stream that ends before its ledger's mark, or has given sequences up to it to other messages: the broker has
// lost the latest messages, as a cut of its power can make it, and the writer would take new ones for those that are
// done. A stream's new leader looks the same until it has applied its log, so one answer proves nothing.

import { buckets } from '../platform/broker/buckets.ts';
import { youngAsks, youngPauseMs } from '../platform/broker/cluster/leader-info.ts';
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
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { sleep } from '../platform/retry.ts';
import { GivenAnewError } from './consume/given-anew.ts';
import {
  openStoredMessages,
  type QueueState,
  queueState,
  type StoredMessages,
} from './consume/queue-state.ts';
import type { Ledger } from './write/ledger.ts';
import { lastDoneOf, readLedgerRecord } from './write/ledger-record.ts';
import type { WriterEnd, WriterState } from './write/writer-state.ts';

type Mark = Pick<Ledger, 'lastPromised' | 'newestMs' | 'lost' | 'streamCreated'>;

const queues = [
  { streamOf: eventsStream, subjectOf: eventsSubject, keyOf: eventsLedgerKey },
  { streamOf: profilesStream, subjectOf: profilesSubject, keyOf: profilesLedgerKey },
] as const;
const atOnce = 256;
const nothing = new Uint8Array();

/** A halted writer looks this often whether the stream has caught up. */
const haltedPauseMs = 5_000;

interface LossOptions {
  nats: NatsConnection;
  stream: string;
  /** Of a ledger that this writer has taken over. */
  mark: Mark;
  shard: number;
  clock: Clock;
  log: Log;
  /** Runs one call until it answers; see platform/retry.ts. */
  untilAnswered<T>(call: () => Promise<T>): Promise<T>;
  stop: AbortSignal;
  abort: AbortSignal;
  onState(state: WriterState): void;
}

interface LossParts {
  stored?: Pick<StoredMessages, 'state' | 'storedMs'>;
  wait?: typeof sleep;
}

type Loss = { kind: 'ends'; endsAt: number } | { kind: 'givenAnew'; seq: number };

/**
 * Resolves with undefined once the stream holds what its ledger has as done or promised: at once, as a rule. Otherwise
 * it asks on, and the writer is halted after half a minute until the stream holds it again. A writer that is stopped
 * from the start does not wait that long: it resolves with the halt. Rejects with the reason of `stop` or `abort`.
 */
export async function haltedByLoss(
  options: LossOptions,
  { stored = openStoredMessages(options.nats, options.stream), wait = sleep }: LossParts = {},
): Promise<WriterEnd | undefined> {
  const { stream, mark, shard, log, untilAnswered, stop, abort, onState } = options;
  const startMs = options.clock.nowMs();
  const isStopped = stop.aborted;
  const waits = isStopped ? abort : AbortSignal.any([stop, abort]);
  let newestMs = mark.newestMs;
  for (let asks = 1; ; asks++) {
    const state = await untilAnswered(() => stored.state());
    if (state.created !== mark.streamCreated) throw new Error(`${stream} was made anew`);
    const { lastPromised, lost } = mark;
    const marks = { lastPromised, lost, newestMs };
    const loss = await untilAnswered(() => lossOf(stored, state, marks));
    if (loss === undefined) {
      if (asks > 1) log.info({ shard, stream, asks }, 'the stream has caught up with its ledger');
      return undefined;
    }
    // New messages fill a stream up to the mark as an applied log does: those of the ledger are older than this call.
    newestMs ??= startMs;
    if (asks === 1)
      log.warn({ shard, stream, ...loss }, 'a stream lacks what its ledger has: asking again');
    if (asks >= youngAsks) {
      const end = haltOf(stream, loss, lastPromised);
      if (isStopped) return end;
      if (asks === youngAsks) log.error({ shard, ...end }, 'the writer is halted');
      onState('halted');
    }
    await wait(asks < youngAsks ? youngPauseMs : haltedPauseMs, waits);
  }
}

async function lossOf(
  stored: Pick<StoredMessages, 'storedMs'>,
  { firstSeq, lastSeq, oldestMs }: QueueState,
  { lastPromised, newestMs, lost }: Omit<Mark, 'streamCreated'>,
): Promise<Loss | undefined> {
  if (lastSeq < lastPromised) return { kind: 'ends', endsAt: lastSeq };
  const marks = lost === undefined ? [] : [lost];
  if (newestMs !== undefined && firstSeq <= lastPromised) {
    marks.push({ seq: lastPromised, newestMs });
    if (oldestMs > newestMs) marks.push({ seq: firstSeq, newestMs });
  }
  for (const { seq, newestMs: atMostMs } of marks) {
    const storedMs = (await stored.storedMs(seq)) ?? 0;
    if (storedMs > atMostMs) return { kind: 'givenAnew', seq };
  }
  return undefined;
}

function haltOf(stream: string, loss: Loss, lastPromised: number): WriterEnd {
  return {
    kind: 'halted',
    reason:
      loss.kind === 'ends'
        ? `${stream} ends at ${loss.endsAt}, and messages up to ${lastPromised} are done or promised: new ones would be ` +
          'taken for these. Start the servers of the broker that are down: the writer goes on by itself once the stream ' +
          'has caught up. Where its messages are lost, put the broker’s store back from a copy'
        : `${stream} has lost messages that are done, and has given their sequences to new ones, ${loss.seq} to one of ` +
          'them. None of these is stored or removed. Put the broker’s store back from a copy, and keep the one of now: ' +
          'the writer goes on by itself then',
  };
}

/** Keeps for the next run what made a writer end, where it was a sequence that is given anew. */
export async function noteLoss(ledger: Pick<Ledger, 'noteLost'>, error: unknown): Promise<void> {
  if (error instanceof GivenAnewError) await ledger.noteLost(error.lost);
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
  { lastDone, streamCreated }: Pick<Ledger, 'lastDone' | 'streamCreated'>,
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
