// The shard's writer: takes batches of messages, has them built, and makes each one's effects happen once, in the one
// order that survives a crash at any point: promise, dead letters, inserts, done, ack. Everything it touches is handed
// in.

import type {
  BatchIds,
  BuiltBatch,
  BuiltMonth,
  DeadLetter,
  Verdict,
} from '../build/thread-messages.ts';
import type { MessageBatch } from '../consume/message-batch.ts';
import { type Ledger, type Pending, rangesOf, type Totals } from './ledger.ts';
import type { WriterEnd, WriterState } from './writer-state.ts';

export interface EventWriterParts {
  ledger: Ledger;
  source: {
    /** Begins to receive what comes after `hwm`. */
    start(hwm: number): Promise<void>;
    next(): Promise<MessageBatch | undefined>;
    ack(batch: MessageBatch): void;
    stop(): void;
  };
  /** The messages of a pending batch, or undefined where one of them is gone. */
  readAgain(ranges: readonly (readonly [number, number])[]): Promise<MessageBatch | undefined>;
  build(batch: MessageBatch, findDropped: (ids: BatchIds) => Promise<Verdict>): Promise<BuiltBatch>;
  /** Which rows were stored before; remembers all of them as stored. */
  findDuplicates(ids: BatchIds): Promise<Verdict>;
  /** The sessions of the rows that have none, less those that are dropped; asked once for every batch, in order. */
  assignSessions(ids: BatchIds, dropped: Uint8Array | undefined): Promise<Uint8Array<ArrayBuffer>>;
  /** Remembers all rows of a batch as stored, without a check. */
  remember(ids: BatchIds): void;
  /** Resolves once every letter is kept. */
  publishDeadLetters(letters: readonly DeadLetter[]): Promise<void>;
  /** Resolves once the rows are in the tables; tries the same bytes under the same token for as long as it takes. */
  insert(month: BuiltMonth, token: string): Promise<void>;
  /** Told of each batch that is done. */
  onDone(done: DoneBatch): void;
  onState(state: WriterState): void;
}

export interface DoneBatch {
  pending: Pending;
  ids: BatchIds;
  totals: Totals;
}

/** A batch whose rows are known and which nobody has been promised yet. */
interface Ready {
  batch: MessageBatch;
  built: BuiltBatch;
  ids: BatchIds;
  pending: Pending;
}

/**
 * Runs until the source ends, the shard is lost, or going on would be wrong. First the batch that the ledger has as
 * pending, then the source's, one at a time; the next is built while this one is inserted. Never rejects for what the
 * batches hold; rejects with what the parts throw.
 */
export async function runEventWriter(
  parts: EventWriterParts,
  tokenPrefix: string,
): Promise<WriterEnd> {
  const recovered = await recover(parts);
  if (recovered !== undefined) return ended(parts, recovered);
  await parts.source.start(parts.ledger.hwm);
  let ahead = settled(prepare(parts, tokenPrefix));
  for (;;) {
    parts.onState('waiting');
    const prepared = await ahead;
    if (prepared.kind === 'failed') throw prepared.error;
    if (prepared.ready === undefined) return ended(parts, { kind: 'stopped' });
    ahead = settled(prepare(parts, tokenPrefix));
    const lost = await land(parts, prepared.ready);
    if (lost !== undefined) return ended(parts, lost);
  }
}

/** Finishes what an earlier writer promised: the same rows under the same tokens. */
async function recover(parts: EventWriterParts): Promise<WriterEnd | undefined> {
  const pending = parts.ledger.pending;
  if (pending === undefined) return undefined;
  parts.onState('recovering');
  const batch = await parts.readAgain(pending.seqs);
  if (batch === undefined) return halted('messages of the pending batch are gone from the stream');
  const { built, ids } = await build(parts, batch, async (found) => {
    parts.remember(found);
    const dropped = bitmapOf(pending.dropped);
    return { dropped, sessions: await parts.assignSessions(found, dropped) };
  });
  if (!isSame(built, pending))
    return halted('the pending batch came out differently when built again');
  return perform(parts, { batch, built, ids, pending });
}

/** The next batch, up to the point where it would have effects; undefined where the source has ended. */
async function prepare(parts: EventWriterParts, tokenPrefix: string): Promise<Ready | undefined> {
  const batch = await parts.source.next();
  if (batch === undefined) return undefined;
  let dropped: Uint8Array | undefined;
  const { built, ids } = await build(parts, batch, async (found) => {
    ({ dropped } = await parts.findDuplicates(found));
    return { dropped, sessions: await parts.assignSessions(found, dropped) };
  });
  const seqs = rangesOf(batch.messages.map((message) => message.seq));
  const span = `${seqs[0]?.[0]}-${seqs.at(-1)?.[1]}`;
  const pending: Pending = {
    seqs,
    ...(dropped !== undefined && { dropped: Buffer.from(dropped).toString('base64') }),
    inserts: built.months.map(({ month, rows, idsHash }) => ({
      month,
      token: `${tokenPrefix}:${span}:${batch.messages.length}:${month}:${rows}`,
      rows,
      idsHash,
    })),
    counts: {
      accepted: built.counts.accepted,
      stored: built.counts.stored,
      duplicates: built.counts.repeats + built.counts.dropped,
      deadLetters: built.counts.refused,
    },
  };
  return { batch, built, ids, pending };
}

async function land(parts: EventWriterParts, ready: Ready): Promise<WriterEnd | undefined> {
  parts.onState('promising');
  if ((await parts.ledger.begin(ready.pending)) === 'lost') return { kind: 'fenced' };
  return perform(parts, ready);
}

/** The effects of a promised batch, in the order that a repetition after a crash relies on. */
async function perform(
  parts: EventWriterParts,
  { batch, built, ids, pending }: Ready,
): Promise<WriterEnd | undefined> {
  parts.onState('inserting');
  await parts.publishDeadLetters(built.deadLetters);
  for (const [index, insert] of pending.inserts.entries()) {
    const month = built.months[index];
    if (month === undefined) throw new Error('write: a promised month was not built');
    await parts.insert(month, insert.token);
  }
  parts.onState('finishing');
  if ((await parts.ledger.finish()) === 'lost') return { kind: 'fenced' };
  parts.source.ack(batch);
  parts.onDone({ pending, ids, totals: parts.ledger.totals });
  return undefined;
}

async function build(
  parts: EventWriterParts,
  batch: MessageBatch,
  findDropped: (ids: BatchIds) => Promise<Verdict>,
): Promise<{ built: BuiltBatch; ids: BatchIds }> {
  let known: BatchIds | undefined;
  let verdict: Promise<Verdict> | undefined;
  // A batch that is built anew because its thread died keeps its verdict: asked twice, every row would be a duplicate.
  const built = await parts.build(batch, (ids) => {
    known = ids;
    verdict ??= findDropped(ids);
    return verdict;
  });
  if (known === undefined) throw new Error('write: a batch was built without a verdict');
  return { built, ids: known };
}

/** Two batches with the same ids and sessions in the same order, month by month, have the same rows. */
function isSame(built: BuiltBatch, pending: Pending): boolean {
  return (
    built.months.length === pending.inserts.length &&
    built.months.every(({ month, rows, idsHash }, index) => {
      const insert = pending.inserts[index];
      return insert?.month === month && insert.rows === rows && insert.idsHash === idsHash;
    })
  );
}

function bitmapOf(base64: string | undefined): Uint8Array | undefined {
  return base64 === undefined ? undefined : new Uint8Array(Buffer.from(base64, 'base64'));
}

function halted(reason: string): WriterEnd {
  return { kind: 'halted', reason };
}

function ended(parts: EventWriterParts, end: WriterEnd): WriterEnd {
  parts.source.stop();
  parts.onState(end.kind);
  return end;
}

type Settled = { kind: 'prepared'; ready: Ready | undefined } | { kind: 'failed'; error: unknown };

/** Work that goes on while something else is awaited must not reject in the meantime. */
async function settled(work: Promise<Ready | undefined>): Promise<Settled> {
  try {
    return { kind: 'prepared', ready: await work };
  } catch (error) {
    return { kind: 'failed', error };
  }
}
