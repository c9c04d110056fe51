// Puts together the writer of one shard's events: takes the shard over and writes until it is stopped, while it loads
// what it knows of earlier events. Only a table of contents: each part has a file of its own, and
// pipeline/write/writer.ts has the order of effects. Its parallel for profiles is profile-shard.ts.

import { randomUUID } from 'node:crypto';
import { buckets } from '../platform/broker/buckets.ts';
import { maxPayloadBytes, type NatsConnection } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { eventsLedgerKey, eventsStream } from '../platform/broker/streams.ts';
import { type DatabaseClient, insertArrow } from '../platform/clickhouse/clickhouse.ts';
import { type Clock, steadyClock } from '../platform/clock.ts';
import { keepHour, type LedgerHour, readHours } from '../platform/ledger/ledger-hours.ts';
import { maxBatchRows, maxBatchWaitMs } from '../platform/limits.ts';
import { tellLive } from '../platform/live/live-messages.ts';
import type { Log } from '../platform/log.ts';
import { freeMemory } from '../platform/memory/free-memory.ts';
import { retry } from '../platform/retry.ts';
import { publishMessage } from '../platform/webhooks/publish-message.ts';
import type { EventKeys } from './build/event-key.ts';
import type { BuilderPool } from './build/pool.ts';
import { createDeadLetters } from './consume/dead-letter.ts';
import { createDeadLetterRows } from './consume/dead-letter-rows.ts';
import { type EventStream, openEventStream, streamCreated } from './consume/event-stream.ts';
import { watchLeftovers } from './consume/leftover-messages.ts';
import { readAgain } from './consume/message-batch.ts';
import type { BatchLimits } from './consume/message-queue.ts';
import { MessageSource } from './consume/message-source.ts';
import { openStoredMessages } from './consume/queue-state.ts';
import { tellCrowding } from './consume/turns/tell-crowding.ts';
import { haltedByLoss, noteLoss } from './lost-messages.ts';
import type { PipelineMetrics } from './metrics.ts';
import { openStoredState, type StoredState } from './stored-state.ts';
import { tellVerdicts } from './watch/verdicts.ts';
import type { WatchedProjects } from './watch/watched-projects.ts';
import { createDeliveryPublisher } from './webhooks/publish-deliveries.ts';
import type { Subscriptions } from './webhooks/subscriptions.ts';
import { openBooks } from './write/books.ts';
import { createBuild } from './write/build.ts';
import { createInsert } from './write/insert.ts';
import { type Ledger, takeOverLedger } from './write/ledger.ts';
import { readLedgerRecord } from './write/ledger-record.ts';
import { createOwnedCalls, ShardLost } from './write/owned-calls.ts';
import { type DoneBatch, type EventWriterParts, runEventWriter } from './write/writer.ts';
import type { WriterEnd, WriterState } from './write/writer-state.ts';

export interface EventShardOptions {
  nats: NatsConnection;
  clickhouse: DatabaseClient;
  shard: number;
  pool: BuilderPool;
  eventKeys: EventKeys;
  seenMaxBytes: number;
  clock: Clock;
  log: Log;
  metrics: PipelineMetrics;
  watched: Pick<WatchedProjects, 'isWatched'>;
  subscriptions: Subscriptions;
  /** Ends the source; what it has received is still written. */
  stop: AbortSignal;
  /** Ends every wait; the pending batch stays pending. */
  abort: AbortSignal;
  onState(state: WriterState): void;
  /** See hold.ts. */
  mayPromise?: () => Promise<void>;
  /** See write/owned-calls.ts. */
  steady?: Clock;
}

/** Two of the largest and a pull are in memory at once. */
export const eventBatches: BatchLimits = {
  maxRows: maxBatchRows,
  // The insert of a batch of several years holds its rows once more: more of them do not fit into the least engine.
  maxBytes: 48 * 1_048_576,
  // Two batches stay below the consumer's max_ack_pending.
  maxMessages: 8_000,
  // Packed frames, three or four batches: a project that sends more than is stored must leave room for others.
  maxQueuedBytes: 64 * 1_048_576,
  enoughShare: 0.5,
  // An event of now waits for their insert.
  maxImportRows: 5_000,
  maxImportWaitMs: 2_000,
  minWaitMs: 100,
  // At most two and a half parts a second in the table, four beside an import; an event waits half of this time on
  // average.
  minIntervalMs: 400,
  // Steady events of a small site cost the engine six tenths; 12,500 events/s have so many rows after 400 ms.
  gather: { intervalMs: maxBatchWaitMs, maxRows: 5_000, quickBatches: 8 },
  minImportIntervalMs: 250,
  maxWaitMs: maxBatchWaitMs,
};

type UntilAnswered = <T>(call: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Runs one shard once. Rejects where a part fails for good, or with the reason of `abort`. */
export async function runEventShard(options: EventShardOptions): Promise<WriterEnd> {
  const { nats, shard, log } = options;
  const untilAnswered: UntilAnswered = (call, signal = options.abort) =>
    retry(call, {
      signal,
      baseMs: 50,
      capMs: 2_000,
      onFailure({ error, attempt }) {
        if (error instanceof ShardLost) throw error;
        log.warn({ shard, attempt, err: error }, 'a call failed');
      },
    });
  options.onState('loading');
  const created = await untilAnswered(() => streamCreated(nats, eventsStream(shard)));
  const bucket = await untilAnswered(() => openBucket(nats, buckets.ledger, readLedgerRecord));
  const taking = { bucket, key: eventsLedgerKey(shard), writer: randomUUID() };
  const { ledger, found } = await takeOverLedger({
    ...taking,
    streamCreated: created,
    retry: untilAnswered,
    ...(options.mayPromise && { mayPromise: options.mayPromise }),
    hours: await openHours(options, untilAnswered),
  });
  const halted = await haltedByLoss({
    ...options,
    stream: eventsStream(shard),
    mark: ledger,
    untilAnswered,
  });
  if (halted !== undefined) return halted;
  const stream = openEventStream({
    connection: nats,
    stream: eventsStream(shard),
    created,
    retry: untilAnswered,
  });
  const source = new MessageSource(stream, eventBatches);
  const stored = openStoredState({
    ...options,
    ledger,
    isLedgerCurrent: found === 'current',
    completeTo: () => source.completeTo,
    untilAnswered,
  });
  const label = { shard: String(shard) };
  options.metrics.loading.set(label, 1);
  const onLoaded = () => options.metrics.loading.set(label, 0);
  stored.loaded.then(onLoaded, () => {});
  log.info({ shard, found, hwm: ledger.hwm }, 'writing a shard');
  const stopSource = () => source.stop();
  options.stop.addEventListener('abort', stopSource);
  if (options.stop.aborted) stopSource();
  const followers = followWriter(options, { ledger, source, stored });
  try {
    const asOwner = createOwnedCalls({ ...taking, clock: options.steady ?? steadyClock });
    const parts = writerParts(options, { ledger, source, stream, stored, untilAnswered, asOwner });
    const { onDone } = followers;
    return await runEventWriter({ ...parts, onDone }, `events:${created}:${shard}`);
  } catch (error) {
    if (error instanceof ShardLost) return { kind: 'fenced' };
    await noteLoss(ledger, error);
    throw error;
  } finally {
    options.stop.removeEventListener('abort', stopSource);
    source.stop();
    followers.close();
    await stored.close();
  }
}

/** All that hears of each batch that is done, and tells others. Nothing of it holds up the writer. */
function followWriter(
  { nats, clickhouse, clock, shard, watched, log, metrics }: EventShardOptions,
  { ledger, source, stored }: Pick<Opened, 'ledger' | 'source' | 'stored'>,
): { onDone(done: DoneBatch): void; close(): void } {
  const send = (subject: string, content: Uint8Array): void => tellLive(nats, subject, content);
  const seenBytes = (): number => stored.seen.bytes;
  const books = openBooks({ clickhouse, shard, clock, log, metrics, seenBytes });
  const messages = openStoredMessages(nats, eventsStream(shard));
  const onLost = (error: Error): void => source.fail(error);
  const leftovers = watchLeftovers({ stored: messages, ledger, shard, log, onLost });
  const crowding = tellCrowding({
    ...{ shard, send, source },
    onTold: (projects) =>
      metrics.slowedProjects.set({ shard: String(shard), queue: 'events' }, projects),
  });
  return {
    onDone(done) {
      stored.sessions.done();
      crowding.noteStored();
      books.record(done);
      const { isWatched } = watched;
      tellVerdicts(done, { send, isWatched, nowMs: () => clock.nowMs(), log });
    },
    close() {
      books.close();
      leftovers.close();
      crowding.close();
      // Another process may have the shard now: what this one last did is no fault of today.
      for (const gauge of [metrics.loading, metrics.insertFailures, metrics.seenBytes])
        gauge.set({ shard: String(shard) }, 0);
    },
  };
}

async function openHours({ nats, shard, clock }: EventShardOptions, untilAnswered: UntilAnswered) {
  const bucket = await untilAnswered(() => openBucket(nats, buckets.ledgerHours, readHours));
  return {
    clock,
    async keep(hour: LedgerHour): Promise<void> {
      // Of two writers that keep the same hour one is told of a conflict, and finds it kept.
      while ((await untilAnswered(() => keepHour(bucket, shard, hour))) === 'conflict');
    },
  };
}

interface Opened {
  ledger: Ledger;
  source: MessageSource;
  stream: EventStream;
  stored: StoredState;
  untilAnswered: UntilAnswered;
  /** See write/owned-calls.ts. */
  asOwner: <T>(call: () => Promise<T>) => Promise<T>;
}

function writerParts(options: EventShardOptions, opened: Opened): Omit<EventWriterParts, 'onDone'> {
  const { clickhouse, shard, log, metrics, abort } = options;
  const { ledger, source, stream, stored } = opened;
  const label = { shard: String(shard) };
  return {
    ledger,
    source,
    readAgain: (ranges) => readAgain(stream, ranges),
    build: createBuild(options),
    findDuplicates: (ids) => stored.duplicateCheck.check(ids),
    assignSessions: (ids, dropped) => stored.sessions.assign(ids.sessionless, dropped),
    remember: (ids) => stored.duplicateCheck.remember(ids),
    publishDeadLetters: deadLetters(options, opened),
    insert: createInsert({
      insertArrow: (arrow, token) =>
        opened.asOwner(() => insertArrow(clickhouse, 'events', arrow, token)),
      signal: abort,
      log,
      onInserted: (seconds, { arrow }) => {
        metrics.insertSeconds.observe(label, seconds);
        freeMemory(arrow);
      },
      onFailures: (count) => metrics.insertFailures.set(label, count),
    }),
    subscribed: (ids) => options.subscriptions.subscribed(ids.projects),
    publishDeliveries: deliveries(options, opened),
    onState: options.onState,
  };
}

function deliveries(
  { nats, subscriptions, metrics, log }: EventShardOptions,
  { untilAnswered, asOwner }: Opened,
): EventWriterParts['publishDeliveries'] {
  return createDeliveryPublisher({
    subscriptions,
    publish: (...message) => publishMessage(nats, ...message),
    maxMessageBytes: maxPayloadBytes(nats),
    retry: (call) => untilAnswered(() => asOwner(call)),
    metrics,
    log,
  });
}

/** Their stream first: it is the record. */
function deadLetters(
  { nats, clickhouse, shard, log }: EventShardOptions,
  { ledger, untilAnswered, asOwner }: Opened,
): EventWriterParts['publishDeadLetters'] {
  const publish = createDeadLetters({
    broker: nats.jetstream(),
    shard,
    stream: eventsStream(shard),
    streamCreated: ledger.streamCreated,
    maxPayloadBytes: maxPayloadBytes(nats),
    retry: (call) => untilAnswered(() => asOwner(call)),
  });
  const insertRows = createDeadLetterRows({ clickhouse, shard, log, retry: untilAnswered });
  return async (letters) => {
    await publish(letters);
    await insertRows(letters);
  };
}
