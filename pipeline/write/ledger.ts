// A shard's ledger: the batch that its writer has promised and the messages that are done, in one record that changes
// by compare-and-set only. A writer that loses a compare-and-set is not the shard's writer any more. The order of
// promise and effects is the writers': writer.ts and profiles/writer.ts.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadResult, WriteResult } from '../../platform/broker/record-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import { hourMs } from '../../platform/clock.ts';
import type { LedgerHour } from '../../platform/ledger/ledger-hours.ts';
import {
  type LedgerRecord,
  lastDoneOf,
  lastPromisedOf,
  type Pending,
  type SequenceTime,
  schemaVersion,
  type Totals,
} from './ledger-record.ts';
import { above, countOf, includes, type SequenceRange, unionOf } from './sequence-ranges.ts';

/** The ledger's bucket; see platform/broker/record-bucket.ts. */
export interface LedgerBucket {
  get(key: string): Promise<ReadResult<LedgerRecord>>;
  create(key: string, record: LedgerRecord): Promise<WriteResult>;
  update(key: string, record: LedgerRecord, revision: number): Promise<WriteResult>;
}

/** `lost`: another writer has taken the shard over, and nothing was written. */
type LedgerWrite = 'written' | 'lost';

export interface LedgerOptions {
  bucket: LedgerBucket;
  /** The record of this writer's shard. */
  key: string;
  streamCreated: string;
  /** A name that no other writer ever had. */
  writer: string;
  /** Repeats a call to the bucket until it answers; see platform/retry.ts. */
  retry: <T>(call: () => Promise<T>) => Promise<T>;
  /** Absent, hours are not counted. */
  hours?: LedgerHours;
  /** Resolves once a batch may be promised; at once unless given. See pipeline/hold.ts. */
  mayPromise?: () => Promise<void>;
  /** Waits so many milliseconds; by a timer unless given. */
  wait?: (ms: number) => Promise<unknown>;
}

interface LedgerHours {
  clock: Clock;
  /** Keeps a closed hour, once however often it is called with it. */
  keep(hour: LedgerHour): Promise<void>;
}

interface TakenOver {
  ledger: Ledger;
  /** `fresh`: there was no record. `recreated`: the record was of an earlier stream, whose messages are gone. */
  found: 'current' | 'fresh' | 'recreated';
}

/** A leader may be young for half a minute. */
const stalePauseMs = 250;
const maxStaleReads = 120;

const noTotals: Totals = { accepted: 0, stored: 0, duplicates: 0, deadLetters: 0 };

/**
 * Makes this writer the shard's writer: every other one loses its next write. Throws where the record cannot be read,
 * because a guess could store events twice.
 */
export async function takeOverLedger(options: LedgerOptions): Promise<TakenOver> {
  const { bucket, key, writer, streamCreated, retry } = options;
  let found: TakenOver['found'] = 'fresh';
  for (;;) {
    const read = await retry(() => bucket.get(key));
    if (read.kind === 'unreadable') throw new Error(`ledger: the record ${key} cannot be read`);
    if (read.kind === 'found' && read.record.writer === writer) {
      // The loop's own write, whose answer was lost.
      return takenOver(options, read.record, read.revision, found);
    }
    const current = read.kind === 'found' ? read.record : undefined;
    const isCurrent = current?.streamCreated === streamCreated;
    found = current === undefined ? 'fresh' : isCurrent ? 'current' : 'recreated';
    const record = { ...(isCurrent ? current : startOf(options, current)), writer, step: 1 };
    const revision = read.kind === 'found' ? read.revision : undefined;
    const written = await retry(() => put(bucket, key, record, revision));
    if (written.kind === 'written') {
      return takenOver(options, record, written.revision, found);
    }
    // Another writer wrote between the read and the write: read again.
  }
}

async function takenOver(
  options: LedgerOptions,
  record: LedgerRecord,
  revision: number,
  found: TakenOver['found'],
): Promise<TakenOver> {
  const ledger = new Ledger(options, record, revision);
  // The writer before may have died between closing the hour and keeping it.
  await ledger.keepClosed();
  return { ledger, found };
}

function startOf(options: LedgerOptions, before: LedgerRecord | undefined): LedgerRecord {
  return {
    schemaVersion,
    streamCreated: options.streamCreated,
    hwm: 0,
    totals: before?.totals ?? noTotals,
    ...(before?.lostMessages !== undefined && { lostMessages: before.lostMessages }),
    ...(before?.hour !== undefined && { hour: before.hour }),
    ...(before?.closed !== undefined && { closed: before.closed }),
    writer: options.writer,
    step: 0,
  };
}

export class Ledger {
  readonly #options: LedgerOptions;
  #record: LedgerRecord;
  #revision: number;

  constructor(options: LedgerOptions, record: LedgerRecord, revision: number) {
    this.#options = options;
    this.#record = record;
    this.#revision = revision;
  }

  get hwm(): number {
    return this.#record.hwm;
  }

  /** The messages beyond `hwm` that are done, too. */
  get ahead(): readonly SequenceRange[] {
    return this.#record.ahead ?? [];
  }

  get lastDone(): number {
    return lastDoneOf(this.#record);
  }

  get lastPromised(): number {
    return lastPromisedOf(this.#record);
  }

  /**
   * When the broker stored the newest message that is done or promised, by its clock: one that is newer and has such a
   * sequence is another. Undefined where an older version has written.
   */
  get newestMs(): number | undefined {
    const { newest } = this.#record;
    return newest?.seq === this.lastPromised ? newest.newestMs : undefined;
  }

  /** Where a writer has found another message than was done. */
  get lost(): SequenceTime | undefined {
    return this.#record.lost;
  }

  /** How many sequences are done, those that no message had included: it grows with each batch. */
  get doneCount(): number {
    return this.hwm + countOf(this.ahead);
  }

  isDone(seq: number): boolean {
    return seq <= this.hwm || includes(this.ahead, seq);
  }

  get pending(): Pending | undefined {
    return this.#record.pending;
  }

  get totals(): Totals {
    return this.#record.totals;
  }

  get streamCreated(): string {
    return this.#record.streamCreated;
  }

  /**
   * Promises a batch; the caller does so before its first effect. `newestMs`: when the broker stored its newest
   * message; absent where that is unknown.
   */
  async begin(pending: Pending, newestMs?: number): Promise<LedgerWrite> {
    if (this.#record.pending !== undefined) throw new Error('ledger: a batch is pending already');
    const { seqs } = pending;
    const isNew = !seqs.some(([first, last]) => this.isDone(first) || this.isDone(last));
    if (!isNew) throw new Error('ledger: a message of the batch is done already');
    await this.#options.mayPromise?.();
    // Where an older version has written, a batch beyond all that is done has the newest message.
    const isBeyond = (seqs.at(-1)?.[1] ?? 0) > this.lastDone;
    const beforeMs = this.newestMs ?? (isBeyond ? 0 : undefined);
    const isKnown = newestMs !== undefined && beforeMs !== undefined;
    const newest = isKnown ? Math.max(beforeMs, newestMs) : undefined;
    return this.#write({ ...this.#record, pending }, newest);
  }

  /** Declares the pending batch done; the caller does so after its inserts and before its acks. */
  async finish(): Promise<LedgerWrite> {
    const { pending, ahead: aheadBefore, ...rest } = this.#record;
    if (pending === undefined) throw new Error('ledger: no batch is pending');
    const done = unionOf(aheadBefore ?? [], pending.seqs);
    const completeTo = pending.completeTo ?? pending.seqs.at(-1)?.[1] ?? 0;
    const hwm = Math.max(rest.hwm, completeTo);
    const ahead = above(done, hwm);
    const totals = sum(rest.totals, pending.counts);
    // Sequences up to the mark that no message had.
    const lost = hwm - rest.hwm - (countOf(done) - countOf(ahead));
    const lostMessages = (rest.lostMessages ?? 0) + lost;
    const hours = this.#hoursWith({ ...pending.counts, lostMessages: lost });
    const marks = { hwm, ...(ahead.length > 0 && { ahead }) };
    const record = { ...rest, ...hours, ...marks, totals, lostMessages };
    const written = await this.#write(record, this.newestMs);
    if (written === 'written' && hours.closed !== undefined) await this.keepClosed();
    return written;
  }

  /** Keeps for later writers that the stream gives sequences anew. No batch may be written meanwhile. */
  async noteLost(lost: SequenceTime): Promise<LedgerWrite> {
    return this.#write({ ...this.#record, lost }, this.newestMs);
  }

  /** Moves the closed hour to where hours are kept; it stays in the record too, until the next one closes. */
  async keepClosed(): Promise<void> {
    const { closed } = this.#record;
    if (closed !== undefined) await this.#options.hours?.keep(closed);
  }

  #hoursWith(counts: Omit<LedgerHour, 'startMs'>): Pick<LedgerRecord, 'hour' | 'closed'> {
    const { hours } = this.#options;
    if (hours === undefined) return {};
    const nowMs = hours.clock.nowMs();
    const startMs = nowMs - (nowMs % hourMs);
    const { hour } = this.#record;
    if (hour === undefined) return { hour: { startMs, ...counts } };
    // A clock that went back counts to the hour that is open: a closed one never changes.
    if (startMs > hour.startMs) return { hour: { startMs, ...counts }, closed: hour };
    const lostMessages = hour.lostMessages + counts.lostMessages;
    return { hour: { startMs: hour.startMs, ...sum(hour, counts), lostMessages } };
  }

  async #write(
    { newest: _, ...next }: LedgerRecord,
    newestMs: number | undefined,
  ): Promise<LedgerWrite> {
    const { bucket, key, retry, writer } = this.#options;
    const record: LedgerRecord = {
      ...next,
      ...(newestMs !== undefined && { newest: { seq: lastPromisedOf(next), newestMs } }),
      step: this.#record.step + 1,
    };
    for (let conflicts = 1; ; conflicts++) {
      const written = await retry(() => put(bucket, key, record, this.#revision));
      if (written.kind === 'written') {
        this.#accept(record, written.revision);
        return 'written';
      }
      // A repeated write whose first answer was lost conflicts with itself.
      const read = await retry(() => bucket.get(key));
      const revision = read.kind === 'absent' ? 0 : read.revision;
      if (revision > this.#revision) {
        const own = read.kind === 'found' && read.record.writer === writer;
        if (!own || read.record.step !== record.step) return 'lost';
        this.#accept(record, revision);
        return 'written';
      }
      // A conflict with nothing newer: the bucket's new leader has not applied its log, and a later read tells.
      if (conflicts === maxStaleReads)
        throw new Error('ledger: the broker answers an older record');
      await (this.#options.wait ?? sleep)(stalePauseMs);
    }
  }

  #accept(record: LedgerRecord, revision: number): void {
    this.#record = record;
    this.#revision = revision;
  }
}

function put(
  bucket: LedgerBucket,
  key: string,
  record: LedgerRecord,
  revision: number | undefined,
): Promise<WriteResult> {
  return revision === undefined ? bucket.create(key, record) : bucket.update(key, record, revision);
}

function sum(a: Totals, b: Totals): Totals {
  return {
    accepted: a.accepted + b.accepted,
    stored: a.stored + b.stored,
    duplicates: a.duplicates + b.duplicates,
    deadLetters: a.deadLetters + b.deadLetters,
  };
}
