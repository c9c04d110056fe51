// One shard's writer of profiles: takes the shard over, then batch by batch reads the records that its changes touch,
// applies them in stream order, and stores what became of them. A batch is promised in the ledger, what of it cannot be
// read goes to the dead letters, the rest is inserted as one block, and it is done. After a crash the table says
// whether the promised block is in it: if not, nothing of it is, and the records are those from before the batch.

import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { openBucket } from '../../platform/broker/kv.ts';
import { maxPayloadBytes, type NatsConnection } from '../../platform/broker/nats.ts';
import { buckets, profilesLedgerKey, profilesStream } from '../../platform/broker/topology.ts';
import { failureOf } from '../../platform/clickhouse/clickhouse.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { retry } from '../../platform/retry.ts';
import { createDeadLetters } from '../consume/dead-letter.ts';
import { openEventStream, streamCreated } from '../consume/event-stream.ts';
import { forgetBytes, type MessageBatch, readAgain } from '../consume/message-batch.ts';
import { MessageSource, type SourceLimits } from '../consume/message-source.ts';
import type { PipelineMetrics } from '../metrics.ts';
import {
  type Ledger,
  type Pending,
  rangesOf,
  readLedgerRecord,
  takeOverLedger,
} from '../write/ledger.ts';
import type { WriterEnd, WriterState } from '../write/writer-state.ts';
import { ProfileCache } from './cache.ts';
import { type LoadingBounds, loadProfiles } from './loading.ts';
import { type ProfileMessages, readProfileMessages } from './messages.ts';
import { blockOf, insertAgain, insertBlock, isStored, type ProfileBlock } from './store.ts';

export interface ProfileShardOptions {
  nats: NatsConnection;
  clickhouse: ClickHouseClient;
  shard: number;
  clock: Clock;
  log: Log;
  metrics: Pick<PipelineMetrics, 'profileChanges' | 'profileLagSeconds'>;
  /** Ends the source; what is queued is still written. */
  stop: AbortSignal;
  /** Ends every wait; what is pending stays pending. */
  abort: AbortSignal;
  onState(state: WriterState): void;
}

const sourceLimits: SourceLimits = {
  maxRows: 10_000,
  maxBytes: 16 * 1_048_576,
  maxMessages: 4_000,
  minWaitMs: 30,
  minIntervalMs: 200,
  maxWaitMs: 300,
};
const cacheBytes = 64 * 1_048_576;
// Of the profiles that a batch changes, before it is taken in halves: the engine has 384 MiB for a block, which is one
// with 75 MB of traits, and what does not fit would come again for ever.
const bounds: LoadingBounds = { maxBytes: 32 * 1_048_576, maxTraitsLength: 16 * 1_048_576 };
/** What was promised is one block, whatever it takes. */
const noBounds: LoadingBounds = { maxBytes: 0, maxTraitsLength: Number.POSITIVE_INFINITY };

/** Runs one shard once. Rejects where a part fails for good, or with the reason of `abort`. */
export async function runProfileShard(options: ProfileShardOptions): Promise<WriterEnd> {
  const { nats, shard, log } = options;
  options.onState('loading');
  const untilAnswered: Writer['untilAnswered'] = (call) =>
    retry(call, {
      signal: options.abort,
      baseMs: 50,
      capMs: 2_000,
      onFailure: ({ error, attempt }) => {
        const fields = { shard, attempt, err: error };
        if (failureOf(error) === 'reject') log.error(fields, 'the engine refuses a statement');
        else log.warn(fields, 'a call failed');
      },
    });
  const stream = profilesStream(shard);
  const created = await untilAnswered(() => streamCreated(nats, stream));
  const bucket = await untilAnswered(() => openBucket(nats, buckets.ledger, readLedgerRecord));
  const { ledger, found } = await takeOverLedger({
    bucket,
    key: profilesLedgerKey(shard),
    streamCreated: created,
    writer: randomUUID(),
    retry: untilAnswered,
  });
  log.info({ shard, found, hwm: ledger.hwm }, 'writing profiles of a shard');
  const events = openEventStream({ connection: nats, stream, created, retry: untilAnswered });
  const source = new MessageSource(events, sourceLimits);
  const stopSource = () => source.stop();
  options.stop.addEventListener('abort', stopSource);
  if (options.stop.aborted) stopSource();
  const cache = new ProfileCache(cacheBytes);
  try {
    return await write({
      ...options,
      ...{ ledger, source, stream: events, cache, untilAnswered },
      publishDeadLetters: createDeadLetters({
        ...{ broker: nats.jetstream(), shard, stream, streamCreated: created },
        maxPayloadBytes: maxPayloadBytes(nats),
        retry: untilAnswered,
      }),
    });
  } finally {
    options.stop.removeEventListener('abort', stopSource);
    source.stop();
  }
}

interface Writer extends ProfileShardOptions {
  ledger: Ledger;
  source: MessageSource;
  stream: Parameters<typeof readAgain>[0];
  cache: ProfileCache;
  publishDeadLetters: ReturnType<typeof createDeadLetters>;
  untilAnswered: <T>(call: () => Promise<T>) => Promise<T>;
}

async function write(writer: Writer): Promise<WriterEnd> {
  const { ledger, source, onState } = writer;
  const end = (reason: WriterEnd): WriterEnd => {
    onState(reason.kind);
    return reason;
  };
  if (ledger.pending !== undefined) {
    onState('recovering');
    const lost = await recover(writer, ledger.pending);
    if (lost !== undefined) return end(lost);
  }
  await source.start(ledger.hwm);
  for (;;) {
    onState('waiting');
    const batch = await source.next();
    if (batch === undefined) return end({ kind: 'stopped' });
    const lost = await land(writer, batch);
    if (lost !== undefined) return end(lost);
  }
}

/** Finishes what an earlier writer promised. */
async function recover(writer: Writer, pending: Pending): Promise<WriterEnd | undefined> {
  const { clickhouse, shard, ledger, stream, untilAnswered } = writer;
  const version = pending.inserts[0]?.token;
  const isInserted =
    version !== undefined && (await untilAnswered(() => isStored(clickhouse, shard, version)));
  if (isInserted) {
    await untilAnswered(() => insertAgain(clickhouse, shard, version));
  } else {
    const batch = await readAgain(stream, pending.seqs);
    if (batch === undefined) {
      return { kind: 'halted', reason: 'messages of the pending batch are gone from the stream' };
    }
    const { changes, deadLetters } = readProfileMessages(batch.messages);
    await writer.publishDeadLetters(deadLetters);
    if (version !== undefined) {
      const loaded = await loadProfiles(writer, changes, noBounds);
      if (loaded === 'too-large') throw new Error('a batch without bounds was too large');
      for (const change of changes) loaded.apply(change);
      await insert(writer, blockOf(loaded.changed, shard, version));
    }
  }
  return (await ledger.finish()) === 'lost' ? { kind: 'fenced' } : undefined;
}

async function land(writer: Writer, batch: MessageBatch): Promise<WriterEnd | undefined> {
  const { shard, ledger, source, cache, onState } = writer;
  const read = readProfileMessages(batch.messages);
  const isOne = batch.messages.length === 1;
  const changes = await loadProfiles(writer, read.changes, isOne ? noBounds : bounds);
  if (changes === 'too-large') return landHalves(writer, batch.messages);
  forgetBytes(batch);
  for (const change of read.changes) changes.apply(change);
  const seqs = rangesOf(batch.messages.map(({ seq }) => seq));
  const version = versionOf(ledger.streamCreated, seqs.at(-1)?.[1] ?? 0);
  const block = blockOf(changes.changed, shard, version);
  onState('promising');
  const begun = await ledger.begin(pendingOf(seqs, block, version, read));
  if (begun === 'lost') return { kind: 'fenced' };
  onState('inserting');
  // Before the block, whose rows say after a crash that the letters are published too.
  await writer.publishDeadLetters(read.deadLetters);
  await insert(writer, block);
  onState('finishing');
  if ((await ledger.finish()) === 'lost') return { kind: 'fenced' };
  source.ack(batch);
  for (const record of changes.records()) cache.put(record);
  report(writer, read);
  return undefined;
}

async function landHalves(
  writer: Writer,
  messages: MessageBatch['messages'],
): Promise<WriterEnd | undefined> {
  const middle = messages.length >> 1;
  const lost = await land(writer, { messages: messages.slice(0, middle) });
  return lost ?? land(writer, { messages: messages.slice(middle) });
}

function report({ shard, log, metrics, clock }: Writer, read: ProfileMessages): void {
  const label = { shard: String(shard) };
  const [first] = read.changes;
  const refused = refusedOf(read);
  metrics.profileChanges.inc({ ...label, outcome: 'stored' }, read.changes.length);
  metrics.profileChanges.inc({ ...label, outcome: 'dead_letter' }, refused);
  if (refused > 0) log.error({ shard, refused }, 'changes of profiles went to the dead letters');
  if (first === undefined) return;
  metrics.profileLagSeconds.set(label, (clock.nowMs() - first.receiveTimeMs) / 1_000);
}

function refusedOf({ deadLetters }: ProfileMessages): number {
  return deadLetters.reduce((sum, { events }) => sum + events, 0);
}

function pendingOf(
  seqs: [number, number][],
  { rows }: ProfileBlock,
  version: string,
  read: ProfileMessages,
): Pending {
  const [stored, refused] = [read.changes.length, refusedOf(read)];
  return {
    seqs,
    counts: { accepted: stored + refused, stored, duplicates: 0, deadLetters: refused },
    inserts: rows === 0 ? [] : [{ month: 0, token: version, rows, idsHash: '' }],
  };
}

async function insert(writer: Writer, block: ProfileBlock): Promise<void> {
  if (block.rows === 0) return;
  await writer.untilAnswered(() => insertBlock(writer.clickhouse, block));
}

// Sequences start anew with a stream: the second it was made in comes first, counted so that 64 bits last until 2054.
const sequenceBits = 34n;
const firstSecond = Date.UTC(2020, 0, 1) / 1_000;

/** Greater for each batch than for all before it, those of earlier streams included. */
function versionOf(created: string, lastSeq: number): string {
  const second = BigInt(Math.floor(Date.parse(created) / 1_000) - firstSecond);
  return String((second << sequenceBits) + BigInt(lastSeq));
}
