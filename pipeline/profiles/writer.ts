// The writer of one shard's profiles: reads the records that a batch of changes touches, applies the changes in stream
// order and stores the records that changed. It counts nothing and starts nothing: profile-shard.ts hands the parts in.
// The writer of events is pipeline/write/writer.ts.
//
// A batch has these effects. Each begins once the one before it is confirmed:
// 1. Promise (write/ledger.ts, `begin`): first, so that the next writer repeats exactly this batch as the same version.
//    A writer that has lost the shard is stopped here, before it does anything.
// 2. Dead letters (consume/dead-letter.ts): before 3, because a row of this version says after a crash that the letters
//    are published too. The broker drops a letter that comes again.
// 3. Insert (insert-block.ts): the table has the block whole or not at all. After a crash the next writer asks it for
//    the version; where it is missing, the records are still those from before the batch, which is applied again.
// 4. Done (write/ledger.ts, `finish`): after 2 and 3, because nobody repeats them from here on.
// 5. Acks (consume/message-source.ts): after 4, because the broker deletes acked messages, and without them nobody can
//    apply the batch again. Messages whose acks are lost come again and are known by the ledger.

import type { DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { frameProjects } from '../../proto/wire/frame.ts';
import type { DeadLetter } from '../build/thread-messages.ts';
import type { EventStream, StreamMessage } from '../consume/event-stream.ts';
import { forgetBytes, type MessageBatch, newestMsOf, readAgain } from '../consume/message-batch.ts';
import type { MessageSource } from '../consume/message-source.ts';
import { MemberTurns } from '../consume/turns/member-turns.ts';
import { Laps } from '../write/laps.ts';
import type { Ledger } from '../write/ledger.ts';
import { type Pending, rangesOf } from '../write/ledger-record.ts';
import type { WriterEnd, WriterState } from '../write/writer-state.ts';
import type { ProfileCache } from './cache.ts';
import { type AppliedChanges, applyChanges } from './changes.ts';
import { blockOf, insertAgain, insertBlock, isStored, type ProfileBlock } from './insert-block.ts';
import type { LoadedRecords } from './loaded-records.ts';
import { type LoadingBounds, loadNamed, loadProfiles, noBounds } from './loading.ts';
import { LookedAtMembers } from './looked-at-ids.ts';
import { type ProfileMessages, readProfileMessages, unreadableChanges } from './messages.ts';

/**
 * Beyond these bounds a batch is cut into halves, and the first is taken: the engine has 384 MiB for a block, which
 * 75 MB of traits use up, and a block that does not fit would fail again for ever.
 */
const bounds: LoadingBounds = { maxBytes: 32 * 1_048_576, maxTraitsLength: 16 * 1_048_576 };

export interface ProfileWriterParts {
  clickhouse: DatabaseClient;
  shard: number;
  ledger: Ledger;
  source: MessageSource;
  stream: EventStream;
  cache: ProfileCache;
  /** Resolves once every letter is kept. */
  publishDeadLetters(letters: readonly DeadLetter[]): Promise<void>;
  /** Runs one call until it succeeds. */
  untilAnswered: <T>(call: () => Promise<T>) => Promise<T>;
  /** Called after the acks of each batch. */
  onDone(done: DoneChanges): void;
  onState(state: WriterState): void;
}

export interface DoneChanges {
  read: ProfileMessages;
  seqs: Pending['seqs'];
  /** Records that were stored. */
  rows: number;
  full: AppliedChanges['full'];
  waitsMs: ChangeLaps['ms'];
}

/** In order; `load` ends with the batch applied to the records. */
type ChangeLaps = Laps<'load' | 'promise' | 'insert' | 'finish'>;

/**
 * Runs until the source ends, another writer takes the shard, or going on could lose or double changes. Finishes the
 * pending batch of the ledger first. Rejects with the errors of its parts.
 */
export async function runProfileWriter(parts: ProfileWriterParts): Promise<WriterEnd> {
  const { ledger, source, onState } = parts;
  const end = (reason: WriterEnd): WriterEnd => {
    onState(reason.kind);
    return reason;
  };
  if (ledger.pending !== undefined) {
    onState('recovering');
    const lost = await recover(parts, ledger.pending);
    if (lost !== undefined) return end(lost);
  }
  await source.start(ledger);
  const turns = new MemberTurns();
  for (;;) {
    onState('waiting');
    const batch = await source.next();
    if (batch === undefined) return end({ kind: 'stopped' });
    const laps: ChangeLaps = new Laps();
    const loaded = await loadBatch(parts, turns, batch.messages);
    const lost = await writeBatch(parts, loaded, laps);
    if (lost !== undefined) return end(lost);
  }
}

/** Finishes the batch that an earlier writer promised. */
async function recover(
  parts: ProfileWriterParts,
  pending: Pending,
): Promise<WriterEnd | undefined> {
  const { clickhouse, shard, ledger, stream, untilAnswered } = parts;
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
    await parts.publishDeadLetters(deadLetters);
    if (version !== undefined) {
      const records = await loadProfiles(parts, changes);
      const { changed } = await applyChanges(records, changes);
      await insert(parts, blockOf(changed, shard, version));
    }
  }
  return (await ledger.finish()) === 'lost' ? { kind: 'fenced' } : undefined;
}

interface LoadedBatch {
  batch: MessageBatch;
  read: ProfileMessages;
  records: LoadedRecords;
}

/**
 * Loads what as many of the messages need as one batch may have. The others go back to the source, where whoever came
 * meanwhile takes turns with them.
 */
async function loadBatch(
  parts: ProfileWriterParts,
  turns: MemberTurns,
  messages: readonly StreamMessage[],
): Promise<LoadedBatch> {
  const reads = messages.map((message) => readProfileMessages([message]));
  const projects = messages.map(({ data }) => frameProjects(data));
  // Before any record is loaded: all changes of the batch are made to what the table has.
  const isForgetting = reads.some((read) =>
    read.changes.some(({ change }) => change.kind === 'forget'),
  );
  if (isForgetting) parts.cache.clear();
  for (let count = messages.length; ; count >>= 1) {
    const some = reads.slice(0, count);
    const changes = some.flatMap((read) => read.changes);
    const loading = await loadNamed(parts, changes, count === 1 ? noBounds : bounds);
    if (loading.isTooLarge) continue;
    const members = new LookedAtMembers(loading.records, changes);
    const isTaken = turns.take(
      some.map((read, index) => ({
        projects: projects[index] ?? [],
        members: membersIn(read, members, loading.records),
      })),
    );
    const read = {
      changes: some.flatMap((one, index) => (isTaken[index] === true ? one.changes : [])),
      deadLetters: some.flatMap((one, index) => (isTaken[index] === true ? one.deadLetters : [])),
    };
    await loading.fetchMembers(read.changes);
    if (loading.isTooLarge) continue;
    parts.source.giveBack(messages.filter((_, index) => isTaken[index] !== true));
    const taken = messages.filter((_, index) => isTaken[index] === true);
    const batch = { messages: taken, completeTo: parts.source.completeTo };
    return { batch, read, records: loading.records };
  }
}

/** The members that a message makes the writer look at, beside those of the messages before it. */
function membersIn(
  { changes }: ProfileMessages,
  members: LookedAtMembers,
  records: LoadedRecords,
): number {
  const roots = changes.flatMap((change) => members.of(change));
  return roots.reduce((sum, one) => sum + records.get(one.projectId, one.distinctId).members, 0);
}

async function writeBatch(
  parts: ProfileWriterParts,
  { batch, read, records }: LoadedBatch,
  laps: ChangeLaps,
): Promise<WriterEnd | undefined> {
  const { shard, ledger, source, cache, onState } = parts;
  const { changed, full } = await applyChanges(records, read.changes);
  const seqs = rangesOf(batch.messages.map(({ seq }) => seq));
  const version = versionOf(ledger.streamCreated, ledger.doneCount + batch.messages.length);
  const block = blockOf(changed, shard, version);
  laps.end('load');
  onState('promising');
  const pending = pendingOf(batch, seqs, block, version, read);
  const begun = await ledger.begin(pending, newestMsOf(batch));
  if (begun === 'lost') return { kind: 'fenced' };
  laps.end('promise');
  onState('inserting');
  await parts.publishDeadLetters(read.deadLetters);
  // Only now: the letters' contents are the messages' bytes.
  forgetBytes(batch);
  await insert(parts, block);
  laps.end('insert');
  onState('finishing');
  if ((await ledger.finish()) === 'lost') return { kind: 'fenced' };
  laps.end('finish');
  source.ack(batch);
  for (const record of records.all()) cache.put(record);
  parts.onDone({ read, seqs, rows: block.rows, full, waitsMs: laps.ms });
  return undefined;
}

function pendingOf(
  { completeTo }: MessageBatch,
  seqs: [number, number][],
  { rows }: ProfileBlock,
  version: string,
  read: ProfileMessages,
): Pending {
  const [stored, unreadable] = [read.changes.length, unreadableChanges(read)];
  return {
    seqs,
    ...(completeTo !== undefined && { completeTo }),
    counts: { accepted: stored + unreadable, stored, duplicates: 0, deadLetters: unreadable },
    inserts: rows === 0 ? [] : [{ token: version, rows, idsHash: '' }],
  };
}

async function insert(parts: ProfileWriterParts, block: ProfileBlock): Promise<void> {
  if (block.rows === 0) return;
  await parts.untilAnswered(() => insertBlock(parts.clickhouse, block));
}

// Batches may pass each other's messages, so a version ends with the number of sequences that are done with its batch.
// A stream that is made anew counts from 1 again, so a version begins with the second in which the stream was made.
// Counted from 2020, these seconds fit beside the number in 64 bits until 2054.
const doneBits = 34n;
const firstSecond = Date.UTC(2020, 0, 1) / 1_000;

/** Greater for each batch than for all before it, those of earlier streams included. */
function versionOf(created: string, done: number): string {
  const second = BigInt(Math.floor(Date.parse(created) / 1_000) - firstSecond);
  return String((second << doneBits) + BigInt(done));
}
