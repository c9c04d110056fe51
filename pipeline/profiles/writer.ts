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
//    apply the batch again. Messages whose acks are lost come again and are known by the ledger's `hwm`.

import type { ClickHouseClient } from '@clickhouse/client';
import type { DeadLetter } from '../build/thread-messages.ts';
import type { EventStream } from '../consume/event-stream.ts';
import { forgetBytes, type MessageBatch, readAgain } from '../consume/message-batch.ts';
import type { MessageSource } from '../consume/message-source.ts';
import { Laps } from '../write/laps.ts';
import type { Ledger } from '../write/ledger.ts';
import { type Pending, rangesOf } from '../write/ledger-record.ts';
import type { WriterEnd, WriterState } from '../write/writer-state.ts';
import type { ProfileCache } from './cache.ts';
import { type AppliedChanges, applyChanges } from './changes.ts';
import { blockOf, insertAgain, insertBlock, isStored, type ProfileBlock } from './insert-block.ts';
import { type LoadingBounds, loadProfiles } from './loading.ts';
import { type ProfileMessages, readProfileMessages, unreadableChanges } from './messages.ts';

/**
 * Beyond these bounds a batch is taken in halves: the engine has 384 MiB for a block, which 75 MB of traits use up, and
 * a block that does not fit would fail again for ever.
 */
const bounds: LoadingBounds = { maxBytes: 32 * 1_048_576, maxTraitsLength: 16 * 1_048_576 };
/** A promised batch is one block, however large. */
const noBounds: LoadingBounds = { maxBytes: 0, maxTraitsLength: Number.POSITIVE_INFINITY };

export interface ProfileWriterParts {
  clickhouse: ClickHouseClient;
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
  for (;;) {
    onState('waiting');
    const batch = await source.next();
    if (batch === undefined) return end({ kind: 'stopped' });
    const lost = await writeBatch(parts, batch);
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
      const records = await loadProfiles(parts, changes, noBounds);
      if (records === 'too-large') throw new Error('a batch without bounds was too large');
      const { changed } = await applyChanges(records, changes);
      await insert(parts, blockOf(changed, shard, version));
    }
  }
  return (await ledger.finish()) === 'lost' ? { kind: 'fenced' } : undefined;
}

async function writeBatch(
  parts: ProfileWriterParts,
  batch: MessageBatch,
): Promise<WriterEnd | undefined> {
  const { shard, ledger, source, cache, onState } = parts;
  const laps: ChangeLaps = new Laps();
  const read = readProfileMessages(batch.messages);
  const isOne = batch.messages.length === 1;
  const records = await loadProfiles(parts, read.changes, isOne ? noBounds : bounds);
  if (records === 'too-large') return writeHalves(parts, batch.messages);
  const { changed, full } = await applyChanges(records, read.changes);
  const seqs = rangesOf(batch.messages.map(({ seq }) => seq));
  const version = versionOf(ledger.streamCreated, seqs.at(-1)?.[1] ?? 0);
  const block = blockOf(changed, shard, version);
  laps.end('load');
  onState('promising');
  const begun = await ledger.begin(pendingOf(seqs, block, version, read));
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

async function writeHalves(
  parts: ProfileWriterParts,
  messages: MessageBatch['messages'],
): Promise<WriterEnd | undefined> {
  const middle = messages.length >> 1;
  const lost = await writeBatch(parts, { messages: messages.slice(0, middle) });
  return lost ?? writeBatch(parts, { messages: messages.slice(middle) });
}

function pendingOf(
  seqs: [number, number][],
  { rows }: ProfileBlock,
  version: string,
  read: ProfileMessages,
): Pending {
  const [stored, unreadable] = [read.changes.length, unreadableChanges(read)];
  return {
    seqs,
    counts: { accepted: stored + unreadable, stored, duplicates: 0, deadLetters: unreadable },
    inserts: rows === 0 ? [] : [{ token: version, rows, idsHash: '' }],
  };
}

async function insert(parts: ProfileWriterParts, block: ProfileBlock): Promise<void> {
  if (block.rows === 0) return;
  await parts.untilAnswered(() => insertBlock(parts.clickhouse, block));
}

// A stream that is made anew counts its sequences from 1 again, so a version begins with the second in which the stream
// was made. Counted from 2020, these seconds fit beside the sequence in 64 bits until 2054.
const sequenceBits = 34n;
const firstSecond = Date.UTC(2020, 0, 1) / 1_000;

/** Greater for each batch than for all before it, those of earlier streams included. */
function versionOf(created: string, lastSeq: number): string {
  const second = BigInt(Math.floor(Date.parse(created) / 1_000) - firstSecond);
  return String((second << sequenceBits) + BigInt(lastSeq));
}
