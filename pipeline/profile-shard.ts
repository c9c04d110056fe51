// Puts together the writer of one shard's profiles: takes the shard over and writes until it is stopped. Only a table
// of contents: each part has a file of its own, and pipeline/profiles/writer.ts has the order of effects. Its parallel
// for events is event-shard.ts; profiles need nothing loaded at the start.

import { randomUUID } from 'node:crypto';
import { buckets } from '../platform/broker/buckets.ts';
import { maxPayloadBytes, type NatsConnection } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { profilesLedgerKey, profilesStream } from '../platform/broker/streams.ts';
import { type DatabaseClient, failureOf } from '../platform/clickhouse/clickhouse.ts';
import { type Clock, steadyClock } from '../platform/clock.ts';
import { tellLive } from '../platform/live/live-messages.ts';
import type { Log } from '../platform/log.ts';
import { retry } from '../platform/retry.ts';
import { createDeadLetters } from './consume/dead-letter.ts';
import { openEventStream, streamCreated } from './consume/event-stream.ts';
import { watchLeftovers } from './consume/leftover-messages.ts';
import type { BatchLimits } from './consume/message-queue.ts';
import { MessageSource } from './consume/message-source.ts';
import { openStoredMessages } from './consume/queue-state.ts';
import { tellCrowding } from './consume/turns/tell-crowding.ts';
import { haltedByLoss, noteLoss } from './lost-messages.ts';
import type { PipelineMetrics } from './metrics.ts';
import { ProfileCache } from './profiles/cache.ts';
import { separateDeletedMembers } from './profiles/deleted-members.ts';
import { unreadableChanges } from './profiles/messages.ts';
import { type DoneChanges, type ProfileWriterParts, runProfileWriter } from './profiles/writer.ts';
import { takeOverLedger } from './write/ledger.ts';
import { readLedgerRecord } from './write/ledger-record.ts';
import { createOwnedCalls, ShardLost } from './write/owned-calls.ts';
import type { WriterEnd, WriterState } from './write/writer-state.ts';

interface ProfileShardOptions {
  nats: NatsConnection;
  clickhouse: DatabaseClient;
  shard: number;
  clock: Clock;
  log: Log;
  metrics: Pick<PipelineMetrics, 'profileChanges' | 'fullProfiles' | 'slowedProjects'>;
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

const sourceLimits: BatchLimits = {
  maxRows: 10_000,
  maxBytes: 16 * 1_048_576,
  maxMessages: 4_000,
  maxQueuedBytes: 16 * 1_048_576,
  // The ledger keeps the places of those that wait while later ones of others are done. Each may be of much work.
  maxQueuedMessages: 8_000,
  enoughShare: 1,
  minWaitMs: 30,
  minIntervalMs: 200,
  maxWaitMs: 300,
};
const cacheBytes = 64 * 1_048_576;
/** Of a read that goes through many rows: an engine that cannot answer it is left alone until the next start. */
const separatingTries = 10;
/** A sender that fills a profile may try again with every batch. */
const warnEveryMs = 60_000;

/** Runs one shard once. Rejects where a part fails for good, or with the reason of `abort`. */
export async function runProfileShard(options: ProfileShardOptions): Promise<WriterEnd> {
  const { nats, clickhouse, shard, log } = options;
  options.onState('loading');
  const untilAnswered = untilAnsweredOrOver(options, options.abort);
  const stream = profilesStream(shard);
  const created = await untilAnswered(() => streamCreated(nats, stream));
  const bucket = await untilAnswered(() => openBucket(nats, buckets.ledger, readLedgerRecord));
  const taking = { bucket, key: profilesLedgerKey(shard), writer: randomUUID() };
  const { ledger, found } = await takeOverLedger({
    ...taking,
    streamCreated: created,
    retry: untilAnswered,
    ...(options.mayPromise && { mayPromise: options.mayPromise }),
  });
  const halted = await haltedByLoss({ ...options, stream, mark: ledger, untilAnswered });
  if (halted !== undefined) return halted;
  log.info({ shard, found, hwm: ledger.hwm }, 'writing profiles of a shard');
  const events = openEventStream({ connection: nats, stream, created, retry: untilAnswered });
  const source = new MessageSource(events, sourceLimits);
  const over = new AbortController();
  const stopSource = () => {
    over.abort(options.stop.reason);
    source.stop();
  };
  options.stop.addEventListener('abort', stopSource);
  if (options.stop.aborted) stopSource();
  const cache = new ProfileCache(cacheBytes);
  const stored = openStoredMessages(nats, stream);
  const onLost = (error: Error): void => source.fail(error);
  const leftovers = watchLeftovers({ stored, ledger, shard, log, onLost });
  const report = createReport(options);
  const crowding = tellCrowding({
    ...{ shard, source },
    send: (subject, content) => tellLive(nats, subject, content),
    onTold: (projects) =>
      options.metrics.slowedProjects.set({ shard: String(shard), queue: 'profiles' }, projects),
  });
  const separating = separateDeletedMembers({
    ...{ nats, clickhouse, shard, clock: options.clock, log, signal: over.signal },
    untilAnswered: untilAnsweredOrOver(options, over.signal, separatingTries),
  });
  const asOwner = createOwnedCalls({ ...taking, clock: options.steady ?? steadyClock });
  const retryAsOwner: typeof untilAnswered = (call) => untilAnswered(() => asOwner(call));
  try {
    return await runProfileWriter({
      ...{ clickhouse, shard, onState: options.onState },
      ...{ ledger, source, stream: events, cache, untilAnswered: retryAsOwner },
      publishDeadLetters: createDeadLetters({
        ...{ broker: nats.jetstream(), shard, stream, streamCreated: created },
        maxPayloadBytes: maxPayloadBytes(nats),
        retry: retryAsOwner,
      }),
      onDone(done) {
        crowding.noteStored();
        report(done);
      },
    });
  } catch (error) {
    if (error instanceof ShardLost) return { kind: 'fenced' };
    await noteLoss(ledger, error);
    throw error;
  } finally {
    options.stop.removeEventListener('abort', stopSource);
    stopSource();
    await separating;
    leftovers.close();
    crowding.close();
  }
}

function untilAnsweredOrOver(
  { shard, log }: ProfileShardOptions,
  signal: AbortSignal,
  maxTries = Number.POSITIVE_INFINITY,
): ProfileWriterParts['untilAnswered'] {
  return (call) =>
    retry(call, {
      ...{ signal, baseMs: 50, capMs: 2_000 },
      onFailure: ({ error, attempt }) => {
        if (error instanceof ShardLost) throw error;
        const fields = { shard, attempt, err: error };
        if (failureOf(error) === 'reject') log.error(fields, 'the engine refuses a statement');
        else log.warn(fields, 'a call failed');
        if (attempt >= maxTries) throw error;
      },
    });
}

function createReport({ shard, log, metrics }: ProfileShardOptions): (done: DoneChanges) => void {
  const label = { shard: String(shard) };
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  return ({ read, seqs, rows, full, waitsMs }) => {
    const unreadable = unreadableChanges(read);
    metrics.profileChanges.inc({ ...label, outcome: 'stored' }, read.changes.length);
    metrics.profileChanges.inc({ ...label, outcome: 'dead_letter' }, unreadable);
    metrics.fullProfiles.inc(label, full.length);
    log.debug({ shard, seqs, rows, deadLetters: unreadable, waitsMs }, 'batch.done');
    if (unreadable > 0)
      log.error({ shard, refused: unreadable }, 'changes of profiles went to the dead letters');
    const [first] = full;
    if (first === undefined || performance.now() - warnedAtMs < warnEveryMs) return;
    warnedAtMs = performance.now();
    const { projectId: project, members } = first;
    log.warn(
      { shard, project, members },
      'a profile has all the ids it may have, or all their traits: none is added',
    );
  };
}
