// One shard's writer of profiles: takes the shard over, then batch by batch reads the records that its changes touch,
// applies them in stream order, and stores what became of them. A batch is promised in the ledger, what of it cannot be
// read goes to the dead letters, the rest is inserted as one block, and it is done. After a crash the table says
// whether the promised block is in it: if not, nothing of it is, and the records are those from before the batch.

import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { failureOf } from '../platform/clickhouse.ts';
import type { Clock } from '../platform/clock.ts';
import { openBucket } from '../platform/kv.ts';
import type { Log } from '../platform/log.ts';
import { maxPayloadBytes, type NatsConnection } from '../platform/nats.ts';
import { retry } from '../platform/retry.ts';
import { buckets, profilesLedgerKey, profilesStream } from '../platform/topology.ts';
import { MessageSource, type SourceLimits } from './consume.ts';
import { createDeadLetters } from './dead-letter.ts';
import { openEventStream, streamCreated } from './event-stream.ts';
import { type Ledger, type Pending, rangesOf, readLedgerRecord, takeOverLedger } from './ledger.ts';
import { forgetBytes, type MessageBatch, readAgain } from './message-batch.ts';
import type { PipelineMetrics } from './pipeline-metrics.ts';
import { ProfileCache } from './profile-cache.ts';
import { idsOf, ProfileChanges, type QueuedChange } from './profile-changes.ts';
import { type ProfileMessages, readProfileMessages } from './profile-messages.ts';
import { newRecord, recordKey } from './profile-record.ts';
import {
  blockOf,
  insertAgain,
  insertBlock,
  isStored,
  loadMembers,
  loadRecords,
  type ProfileBlock,
  type ProfileName,
} from './profile-store.ts';
import type { WriterEnd, WriterState } from './write.ts';

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
      const { changed } = await applied(writer, changes);
      await insert(writer, blockOf(changed, shard, version));
    }
  }
  return (await ledger.finish()) === 'lost' ? { kind: 'fenced' } : undefined;
}

async function land(writer: Writer, batch: MessageBatch): Promise<WriterEnd | undefined> {
  const { shard, ledger, source, cache, onState } = writer;
  const read = readProfileMessages(batch.messages);
  forgetBytes(batch);
  const changes = await applied(writer, read.changes);
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

/** Loads what the changes look at, and applies them. */
async function applied(writer: Writer, queued: readonly QueuedChange[]): Promise<ProfileChanges> {
  const changes = new ProfileChanges();
  const records = new Map<string, ProfileName>();
  const groups = new Map<string, ProfileName>();
  for (const { projectId, change } of queued) {
    const ids = idsOf(change);
    for (const id of ids.records) records.set(recordKey(projectId, id), named(projectId, id));
    for (const id of ids.groups) groups.set(recordKey(projectId, id), named(projectId, id));
  }
  await fetch(writer, changes, records.values());
  if (groups.size > 0) {
    // The group of an id that is merged is its root's.
    for (const { projectId, distinctId, root } of [...changes.records()]) {
      const isGroup = groups.has(recordKey(projectId, distinctId));
      if (isGroup && root !== '') groups.set(recordKey(projectId, root), named(projectId, root));
    }
    const { clickhouse, cache, untilAnswered } = writer;
    const members = await untilAnswered(() => loadMembers(clickhouse, [...groups.values()]));
    for (const member of members) {
      changes.add(cache.get(member.projectId, member.distinctId) ?? member);
    }
  }
  while (await fetchAbove(writer, changes, groups.size > 0)) {
    // Each turn is one step up the longest chain of owners.
  }
  for (const change of queued) changes.apply(change);
  return changes;
}

/** Adds the roots, and where asked the owners, of what was added; false where nothing was missing. */
async function fetchAbove(
  writer: Writer,
  changes: ProfileChanges,
  withOwners: boolean,
): Promise<boolean> {
  const above = new Map<string, ProfileName>();
  for (const { projectId, root, owner } of changes.records()) {
    for (const id of withOwners ? [root, owner] : [root]) {
      const isMissing = id !== '' && !changes.has(projectId, id);
      if (isMissing) above.set(recordKey(projectId, id), named(projectId, id));
    }
  }
  await fetch(writer, changes, above.values());
  return above.size > 0;
}

function named(projectId: string, distinctId: string): ProfileName {
  return { projectId, distinctId };
}

/** Adds the records of these ids, from memory or from the table. */
async function fetch(
  { clickhouse, cache, untilAnswered }: Writer,
  changes: ProfileChanges,
  names: Iterable<ProfileName>,
): Promise<void> {
  const unknown: ProfileName[] = [];
  for (const name of names) {
    if (changes.has(name.projectId, name.distinctId)) continue;
    const held = cache.get(name.projectId, name.distinctId);
    if (held === undefined) unknown.push(name);
    else changes.add(held);
  }
  if (unknown.length === 0) return;
  for (const record of await untilAnswered(() => loadRecords(clickhouse, unknown))) {
    changes.add(record);
  }
  for (const { projectId, distinctId } of unknown) changes.add(newRecord(projectId, distinctId));
}
