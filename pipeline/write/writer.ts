// The writer of events: takes batches in stream order, has them built, and makes the effects of each happen once,
// whenever it dies. It knows no broker and no engine: event-shard.ts hands the parts in. The writer of profiles is
// pipeline/profiles/writer.ts.
//
// A batch has these effects. Each begins once the one before it is confirmed:
// 1. Promise (ledger.ts, `begin`): first, so that the next writer repeats exactly this batch under the same tokens. A
//    writer that has lost the shard is stopped here, before it does anything.
// 2. Dead letters (consume/dead-letter.ts): the broker drops a letter that comes again. Then their rows
//    (consume/dead-letter-rows.ts): after the letters, which are the record, and before 5, because nobody repeats them
//    from there on; a row that comes again replaces itself. Events wait for rows only while the engine is away, and
//    could not be inserted then either.
// 3. The insert (insert.ts), of all rows under the promised token: ClickHouse drops rows that come again under it.
// 4. Deliveries of webhooks (webhooks/publish-deliveries.ts): the broker drops a delivery that comes again within its
//    window. So they follow 3, which takes as long as an engine is away: from the first delivery to 5 it is only a
//    moment. Whoever receives one finds its event in the tables.
// 5. Done (ledger.ts, `finish`): after 2, 3 and 4, because nobody repeats them from here on.
// 6. Acks (consume/message-source.ts): after 5, because the broker deletes acked messages, and without them nobody can
//    build the batch again. Messages whose acks are lost come again and are known by the ledger's marks.

import type {
  BatchIds,
  BuiltBatch,
  BuiltRows,
  DeadLetter,
  MatchedEvent,
  Verdict,
} from '../build/thread-messages.ts';
import { type MessageBatch, newestMsOf } from '../consume/message-batch.ts';
import type { SubscribedProject } from '../webhooks/subscriptions.ts';
import { Laps } from './laps.ts';
import type { Ledger } from './ledger.ts';
import { type Pending, rangesOf, type Totals } from './ledger-record.ts';
import type { WriterEnd, WriterState } from './writer-state.ts';

export interface EventWriterParts {
  ledger: Ledger;
  source: {
    /** Begins to receive the messages that are not done. */
    start(done: Pick<Ledger, 'hwm' | 'lastDone' | 'newestMs' | 'isDone'>): Promise<void>;
    next(): Promise<MessageBatch | undefined>;
    ack(batch: MessageBatch): void;
    stop(): void;
  };
  /** The messages of a pending batch again; undefined where one of them is gone. */
  readAgain(ranges: readonly (readonly [number, number])[]): Promise<MessageBatch | undefined>;
  /** With `month` only the rows of that month are built. */
  build(
    batch: MessageBatch,
    findDropped: (ids: BatchIds) => Promise<Verdict>,
    month?: number,
  ): Promise<BuiltBatch>;
  /** Marks the rows that were stored before as dropped; remembers all rows as stored. */
  findDuplicates(ids: BatchIds): Promise<Verdict>;
  /**
   * The session ids of the rows that came without one, zeros for dropped rows; called once for each batch, in order.
   */
  assignSessions(ids: BatchIds, dropped: Uint8Array | undefined): Promise<Uint8Array<ArrayBuffer>>;
  /** Remembers all rows as stored without looking for duplicates. */
  remember(ids: BatchIds): void;
  /** Resolves once every letter is kept and has its row. */
  publishDeadLetters(letters: readonly DeadLetter[]): Promise<void>;
  /** Resolves once the rows are in the tables; repeats the same bytes under the same token until then. */
  insert(rows: BuiltRows, token: string): Promise<void>;
  /** The projects of a batch whose organizations have webhooks. */
  subscribed(ids: BatchIds): SubscribedProject[];
  /** Resolves once the deliveries of these events are queued, or recorded as skipped. */
  publishDeliveries(events: readonly MatchedEvent[]): Promise<void>;
  /** Called after the acks of each batch. */
  onDone(done: DoneBatch): void;
  onState(state: WriterState): void;
}

export interface DoneBatch {
  pending: Pending;
  ids: BatchIds;
  /** Partitions that its rows lie in. */
  partitions: number;
  deadLetters: readonly DeadLetter[];
  totals: Totals;
  waitsMs: BatchLaps['ms'];
}

/** In order; the batch before it has its `turn` first. A batch that an earlier writer promised is only built on. */
type BatchLaps = Laps<'build' | 'turn' | 'promise' | 'insert' | 'deliver' | 'finish'>;

/** A batch that is built and has had no effect yet. */
interface Ready {
  batch: MessageBatch;
  built: Pick<BuiltBatch, 'deadLetters' | 'matched'>;
  /** The rows of each promised insert. */
  inserts: BuiltRows[];
  ids: BatchIds;
  pending: Pending;
  laps: BatchLaps;
}

/**
 * Runs until the source ends, another writer takes the shard, or going on could lose or double events. Finishes the
 * pending batch of the ledger first, then takes the source's batches one at a time; the next is built while this one is
 * inserted. No content of a message makes it reject; it rejects with the errors of its parts.
 */
export async function runEventWriter(
  parts: EventWriterParts,
  tokenPrefix: string,
): Promise<WriterEnd> {
  const recovered = await recover(parts);
  if (recovered !== undefined) return ended(parts, recovered);
  await parts.source.start(parts.ledger);
  let ahead = settled(prepare(parts, tokenPrefix));
  for (;;) {
    parts.onState('waiting');
    const prepared = await ahead;
    if (prepared.kind === 'failed') throw prepared.error;
    if (prepared.ready === undefined) return ended(parts, { kind: 'stopped' });
    ahead = settled(prepare(parts, tokenPrefix));
    const lost = await writeBatch(parts, prepared.ready);
    if (lost !== undefined) return ended(parts, lost);
  }
}

/** Finishes the batch that an earlier writer promised: the same rows under the same tokens. */
async function recover(parts: EventWriterParts): Promise<WriterEnd | undefined> {
  const pending = parts.ledger.pending;
  if (pending === undefined) return undefined;
  parts.onState('recovering');
  const laps: BatchLaps = new Laps();
  // Older versions promised an insert for each month: the batch is built once for each, so that its rows are the same.
  const months =
    pending.inserts.length > 0 ? pending.inserts.map(({ month }) => month) : [undefined];
  const verdict = once(async (found: BatchIds) => {
    parts.remember(found);
    return verdictOn(parts, found, bitmapOf(pending.dropped));
  });
  const builds: Awaited<ReturnType<typeof build>>[] = [];
  let batch: MessageBatch | undefined;
  for (const month of months) {
    // Building takes the bytes.
    batch = await parts.readAgain(pending.seqs);
    if (batch === undefined) {
      return halted('messages of the pending batch are gone from the stream');
    }
    builds.push(await build(parts, batch, verdict, month));
  }
  const [first] = builds;
  if (batch === undefined || first === undefined) throw new Error('write: nothing was built again');
  const inserts = builds.flatMap(({ built }) => built.rows ?? []);
  if (!isSame(inserts, pending)) {
    return halted('the pending batch came out differently when built again');
  }
  laps.end('build');
  const { deadLetters } = first.built;
  const matched = builds.flatMap(({ built }) => built.matched);
  return perform(parts, {
    ...{ batch, inserts, pending, laps },
    built: { deadLetters, matched },
    ids: first.ids,
  });
}

/** Takes the next batch up to the point before its first effect; undefined where the source has ended. */
async function prepare(parts: EventWriterParts, tokenPrefix: string): Promise<Ready | undefined> {
  const batch = await parts.source.next();
  if (batch === undefined) return undefined;
  const laps: BatchLaps = new Laps();
  let dropped: Uint8Array | undefined;
  const decide = once(async (found: BatchIds) => {
    ({ dropped } = await parts.findDuplicates(found));
    return verdictOn(parts, found, dropped);
  });
  const { built, ids } = await build(parts, batch, decide);
  const inserts = built.rows === undefined ? [] : [built.rows];
  const seqs = rangesOf(batch.messages.map((message) => message.seq));
  const span = `${seqs[0]?.[0]}-${seqs.at(-1)?.[1]}`;
  const pending: Pending = {
    seqs,
    ...(batch.completeTo !== undefined && { completeTo: batch.completeTo }),
    ...(dropped !== undefined && { dropped: Buffer.from(dropped).toString('base64') }),
    inserts: inserts.map(({ rows, idsHash }) => ({
      token: `${tokenPrefix}:${span}:${batch.messages.length}:${rows}`,
      rows,
      idsHash,
    })),
    counts: {
      accepted: built.counts.accepted,
      stored: built.counts.stored,
      duplicates: built.counts.repeats + built.counts.dropped,
      deadLetters: built.counts.unreadable,
    },
  };
  laps.end('build');
  return { batch, built, inserts, ids, pending, laps };
}

async function verdictOn(
  parts: EventWriterParts,
  ids: BatchIds,
  dropped: Uint8Array | undefined,
): Promise<Verdict> {
  const sessions = await parts.assignSessions(ids, dropped);
  return { dropped, sessions, subscribed: parts.subscribed(ids) };
}

async function writeBatch(parts: EventWriterParts, ready: Ready): Promise<WriterEnd | undefined> {
  ready.laps.end('turn');
  parts.onState('promising');
  const newestMs = newestMsOf(ready.batch);
  if ((await parts.ledger.begin(ready.pending, newestMs)) === 'lost') return { kind: 'fenced' };
  ready.laps.end('promise');
  return perform(parts, ready);
}

/** Makes the effects of a promised batch, in the order that the top of this file explains. */
async function perform(
  parts: EventWriterParts,
  { batch, built, inserts, ids, pending, laps }: Ready,
): Promise<WriterEnd | undefined> {
  parts.onState('inserting');
  await parts.publishDeadLetters(built.deadLetters);
  for (const [index, { token }] of pending.inserts.entries()) {
    const rows = inserts[index];
    if (rows === undefined) throw new Error('write: a promised insert was not built');
    await parts.insert(rows, token);
  }
  laps.end('insert');
  await parts.publishDeliveries(built.matched);
  laps.end('deliver');
  parts.onState('finishing');
  if ((await parts.ledger.finish()) === 'lost') return { kind: 'fenced' };
  laps.end('finish');
  parts.source.ack(batch);
  const { deadLetters } = built;
  const partitions = inserts.reduce((sum, insert) => sum + insert.partitions, 0);
  const { totals } = parts.ledger;
  parts.onDone({ pending, ids, partitions, deadLetters, totals, waitsMs: laps.ms });
  return undefined;
}

async function build(
  parts: EventWriterParts,
  batch: MessageBatch,
  decide: (ids: BatchIds) => Promise<Verdict>,
  month?: number,
): Promise<{ built: BuiltBatch; ids: BatchIds }> {
  let known: BatchIds | undefined;
  const built = await parts.build(
    batch,
    (ids) => {
      known = ids;
      return decide(ids);
    },
    month,
  );
  if (known === undefined) throw new Error('write: a batch was built without a verdict');
  return { built, ids: known };
}

/** One verdict for all tries: after the first answer every row counts as stored, and a second would drop them all. */
function once(decide: (ids: BatchIds) => Promise<Verdict>): (ids: BatchIds) => Promise<Verdict> {
  let verdict: Promise<Verdict> | undefined;
  return (ids) => {
    verdict ??= decide(ids);
    return verdict;
  };
}

/** Inserts with the same ids and sessions in the same order have the same rows. */
function isSame(inserts: readonly BuiltRows[], pending: Pending): boolean {
  return (
    inserts.length === pending.inserts.length &&
    inserts.every(({ rows, idsHash }, index) => {
      const promised = pending.inserts[index];
      return promised?.rows === rows && promised.idsHash === idsHash;
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

/** Turns a rejection into a value: a promise that rejects while nobody awaits it would end the process. */
async function settled(work: Promise<Ready | undefined>): Promise<Settled> {
  try {
    return { kind: 'prepared', ready: await work };
  } catch (error) {
    return { kind: 'failed', error };
  }
}
