// Puts together the writer of one shard's events: takes the shard over, loads what it needs from the tables, writes
// until it is stopped. Only a table of contents: each part has a file of its own, and pipeline/write/writer.ts has the
// order of effects. Its parallel for profiles is profile-shard.ts.

import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { buckets } from '../platform/broker/buckets.ts';
import { maxPayloadBytes, type NatsConnection } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { eventsStream } from '../platform/broker/streams.ts';
import { insertArrow } from '../platform/clickhouse/clickhouse.ts';
import type { Clock } from '../platform/clock.ts';
import { dayMs } from '../platform/clock.ts';
import { maxBatchRows, maxBatchWaitMs, sessionInactivityMs } from '../platform/limits.ts';
import type { Log } from '../platform/log.ts';
import { freeMemory } from '../platform/memory/free-memory.ts';
import { retry } from '../platform/retry.ts';
import type { EventKeys } from './build/event-key.ts';
import type { BuilderPool } from './build/pool.ts';
import { createDeadLetters } from './consume/dead-letter.ts';
import { type EventStream, openEventStream, streamCreated } from './consume/event-stream.ts';
import { readAgain } from './consume/message-batch.ts';
import type { BatchLimits } from './consume/message-queue.ts';
import { MessageSource } from './consume/message-source.ts';
import { DuplicateCheck } from './dedup/duplicate-check.ts';
import { findStored, type SeenSource, storeIds } from './dedup/event-ids.ts';
import { minSeenBytes, SeenSet } from './dedup/seen-set.ts';
import { loadSeen } from './dedup/seen-store.ts';
import type { PipelineMetrics } from './metrics.ts';
import { findSessions, loadSessions, type StoredRows } from './sessions/session-store.ts';
import { Sessions } from './sessions/sessions.ts';
import { openBooks } from './write/books.ts';
import { createBuild } from './write/build.ts';
import { createInsert } from './write/insert.ts';
import { type Ledger, takeOverLedger } from './write/ledger.ts';
import { readLedgerRecord } from './write/ledger-record.ts';
import { type DoneBatch, type EventWriterParts, runEventWriter } from './write/writer.ts';
import type { WriterEnd, WriterState } from './write/writer-state.ts';

export interface EventShardOptions {
  nats: NatsConnection;
  clickhouse: ClickHouseClient;
  shard: number;
  pool: BuilderPool;
  eventKeys: EventKeys;
  seenMaxBytes: number;
  clock: Clock;
  log: Log;
  metrics: PipelineMetrics;
  /** Ends the source; what it has received is still written. */
  stop: AbortSignal;
  /** Ends every wait; the pending batch stays pending. */
  abort: AbortSignal;
  onState(state: WriterState): void;
}

/** Two batches of this size and a pull are in memory at once. */
const sourceLimits: BatchLimits = {
  maxRows: maxBatchRows,
  maxBytes: 32 * 1_048_576,
  // Two batches stay below the consumer's max_ack_pending.
  maxMessages: 8_000,
  minWaitMs: 100,
  // At most two and a half parts a second in the table; an event waits half of this time on average.
  minIntervalMs: 400,
  maxWaitMs: maxBatchWaitMs,
};
/** Sessions that are loaded at the start; older ones are looked up where an event may belong to them. */
const maxLoadedSessions = 100_000;

type UntilAnswered = <T>(call: () => Promise<T>) => Promise<T>;

/** Runs one shard once. Rejects where a part fails for good, or with the reason of `abort`. */
export async function runEventShard(options: EventShardOptions): Promise<WriterEnd> {
  const { nats, shard, log } = options;
  const untilAnswered: UntilAnswered = (call) =>
    retry(call, {
      signal: options.abort,
      baseMs: 50,
      capMs: 2_000,
      onFailure: ({ error, attempt }) => log.warn({ shard, attempt, err: error }, 'a call failed'),
    });
  options.onState('loading');
  const created = await untilAnswered(() => streamCreated(nats, eventsStream(shard)));
  const bucket = await untilAnswered(() => openBucket(nats, buckets.ledger, readLedgerRecord));
  const { ledger, found } = await takeOverLedger({
    bucket,
    key: `shard.${shard}`,
    streamCreated: created,
    writer: randomUUID(),
    retry: untilAnswered,
  });
  const seenSource = { shard, streamCreatedMs: Date.parse(created) };
  const { seen, loaded } = await untilAnswered(() => loadSeenSet(options, seenSource));
  const storedRows = (): StoredRows => ({
    shard,
    // Without a ledger record nothing says which rows belong to an unfinished batch: all rows in the table count.
    hwm: found === 'fresh' ? Number.MAX_SAFE_INTEGER : ledger.hwm,
    streamCreatedMs: Date.parse(created),
  });
  const sessions = await untilAnswered(() => openSessions(options, storedRows, untilAnswered));
  log.info({ shard, found, hwm: ledger.hwm, loaded }, 'writing a shard');
  const stream = openEventStream({
    connection: nats,
    stream: eventsStream(shard),
    created,
    retry: untilAnswered,
  });
  const source = new MessageSource(stream, sourceLimits);
  const stopSource = () => source.stop();
  options.stop.addEventListener('abort', stopSource);
  if (options.stop.aborted) stopSource();
  const books = openBooks({ ...options, seenBytes: () => seen.bytes });
  try {
    const opened = { ledger, source, stream, seen, seenSource, sessions, untilAnswered };
    const parts = writerParts(options, opened);
    const onDone = (done: DoneBatch) => {
      sessions.done();
      books.record(done);
    };
    return await runEventWriter({ ...parts, onDone }, `events:${created}:${shard}`);
  } finally {
    options.stop.removeEventListener('abort', stopSource);
    source.stop();
    books.close();
  }
}

/** Makes a new set on each try: a set that was filled halfway must not be filled again. */
async function loadSeenSet(
  { clickhouse, seenMaxBytes, eventKeys, clock }: EventShardOptions,
  source: SeenSource,
): Promise<{ seen: SeenSet; loaded: number }> {
  const seen = new SeenSet(Math.max(seenMaxBytes, minSeenBytes));
  const loaded = await loadSeen(clickhouse, seen, eventKeys, { ...source, nowMs: clock.nowMs() });
  return { seen, loaded };
}

/** Loads the sessions that an event of today or yesterday may continue. */
async function openSessions(
  { clickhouse, clock }: EventShardOptions,
  storedRows: () => StoredRows,
  untilAnswered: UntilAnswered,
): Promise<Sessions> {
  const sessions = new Sessions({
    find: (visitors, fromMs, toMs) =>
      untilAnswered(() => findSessions(clickhouse, storedRows(), visitors, fromMs, toMs)),
  });
  const yesterdayMs = (Math.floor(clock.nowMs() / dayMs) - 1) * dayMs;
  const loaded = await loadSessions(
    clickhouse,
    storedRows(),
    yesterdayMs - 2 * sessionInactivityMs,
    maxLoadedSessions,
  );
  sessions.load(loaded.sessions, loaded.completeFromMs);
  return sessions;
}

interface Opened {
  ledger: Ledger;
  source: MessageSource;
  stream: EventStream;
  seen: SeenSet;
  seenSource: SeenSource;
  sessions: Sessions;
  untilAnswered: UntilAnswered;
}

function writerParts(options: EventShardOptions, opened: Opened): Omit<EventWriterParts, 'onDone'> {
  const { nats, clickhouse, shard, clock, log, metrics, abort } = options;
  const { ledger, source, stream, seen, seenSource, sessions, untilAnswered } = opened;
  const label = { shard: String(shard) };
  const duplicateCheck = new DuplicateCheck({
    seen,
    clock,
    findStored: (ids, rows) => untilAnswered(() => findStored(clickhouse, ids, rows)),
    storeIds: (span, reach) => untilAnswered(() => storeIds(clickhouse, seenSource, span, reach)),
  });
  return {
    ledger,
    source,
    readAgain: (ranges) => readAgain(stream, ranges),
    build: createBuild(options),
    findDuplicates: (ids) => duplicateCheck.check(ids),
    assignSessions: (ids, dropped) => sessions.assign(ids.sessionless, dropped),
    remember: (ids) => duplicateCheck.remember(ids),
    publishDeadLetters: createDeadLetters({
      broker: nats.jetstream(),
      shard,
      stream: eventsStream(shard),
      streamCreated: ledger.streamCreated,
      maxPayloadBytes: maxPayloadBytes(nats),
      retry: untilAnswered,
    }),
    insert: createInsert({
      insertArrow: (arrow, token) => insertArrow(clickhouse, 'events', arrow, token),
      signal: abort,
      log,
      onInserted: (seconds, { arrow }) => {
        metrics.insertSeconds.observe(label, seconds);
        freeMemory(arrow);
      },
      onFailures: (count) => metrics.insertFailures.set(label, count),
    }),
    onState: options.onState,
  };
}
