// What a shard's writer has promised and done, as one record changed only by compare-and-set. Before an insert
// `pending` says exactly which; after it `hwm` moves on. Whoever loses a compare-and-set is not the writer any more.

import type {
  ReadResult,
  VersionedRecord,
  WriteResult,
} from '../../platform/broker/record-bucket.ts';

const schemaVersion = 1;

/** One insert: the rows of one month. */
export interface PendingInsert {
  /** As in the partition key, 202611. */
  month: number;
  /** The insert's deduplication token: it stands for exactly these rows in this order, for ever. */
  token: string;
  rows: number;
  idsHash: string;
}

/** A batch that may or may not be in the tables. */
export interface Pending {
  /** Stream sequences, as ascending inclusive ranges. */
  seqs: [number, number][];
  /** The rows that were left out as stored before, as a bitmap in base64; absent where none were. */
  dropped?: string;
  inserts: PendingInsert[];
  counts: Totals;
}

/** Events by what became of them; accepted = stored + duplicates + deadLetters. */
export interface Totals {
  accepted: number;
  stored: number;
  duplicates: number;
  deadLetters: number;
}

export interface LedgerRecord extends VersionedRecord {
  /** When the stream was made: a stream made anew counts from 1 again. */
  streamCreated: string;
  /** Every message up to this sequence is done: its rows are in the tables, its dead letters published. */
  hwm: number;
  pending?: Pending;
  totals: Totals;
  /** Who wrote this, and the how-manieth of its writes: tells an unanswered write of one's own from another's. */
  writer: string;
  step: number;
}

/** What the ledger needs of its bucket. */
export interface LedgerBucket {
  get(key: string): Promise<ReadResult<LedgerRecord>>;
  create(key: string, record: LedgerRecord): Promise<WriteResult>;
  update(key: string, record: LedgerRecord, revision: number): Promise<WriteResult>;
}

/** `lost`: another writer has taken the shard over, nothing was written. */
export type LedgerWrite = 'written' | 'lost';

export interface LedgerOptions {
  bucket: LedgerBucket;
  /** The record of this writer's shard. */
  key: string;
  streamCreated: string;
  /** Differs between any two writers that ever ran. */
  writer: string;
  /** Runs one call to the bucket until it answers; see platform/retry.ts. */
  retry: <T>(call: () => Promise<T>) => Promise<T>;
}

/** How a ledger was found when it was taken over. */
export interface TakenOver {
  ledger: Ledger;
  /** `fresh`: there was no record. `recreated`: it spoke of an earlier stream of this name, whose messages are gone. */
  found: 'current' | 'fresh' | 'recreated';
}

const noTotals: Totals = { accepted: 0, stored: 0, duplicates: 0, deadLetters: 0 };

/**
 * Makes this writer the shard's writer: from here on every other one loses its next write. Throws where the record
 * cannot be read, because guessing it could store events twice.
 */
export async function takeOverLedger(options: LedgerOptions): Promise<TakenOver> {
  const { bucket, key, writer, streamCreated, retry } = options;
  let found: TakenOver['found'] = 'fresh';
  for (;;) {
    const read = await retry(() => bucket.get(key));
    if (read.kind === 'unreadable') throw new Error(`ledger: the record ${key} cannot be read`);
    if (read.kind === 'found' && read.record.writer === writer) {
      // This very write, whose answer was lost.
      return { ledger: new Ledger(options, read.record, read.revision), found };
    }
    const current = read.kind === 'found' ? read.record : undefined;
    const isCurrent = current?.streamCreated === streamCreated;
    found = current === undefined ? 'fresh' : isCurrent ? 'current' : 'recreated';
    const record = { ...(isCurrent ? current : startOf(options, current)), writer, step: 1 };
    const revision = read.kind === 'found' ? read.revision : undefined;
    const written = await retry(() => put(bucket, key, record, revision));
    if (written.kind === 'written') {
      return { ledger: new Ledger(options, record, written.revision), found };
    }
    // Somebody wrote in between: look again.
  }
}

function startOf(options: LedgerOptions, before: LedgerRecord | undefined): LedgerRecord {
  return {
    schemaVersion,
    streamCreated: options.streamCreated,
    hwm: 0,
    totals: before?.totals ?? noTotals,
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

  get pending(): Pending | undefined {
    return this.#record.pending;
  }

  get totals(): Totals {
    return this.#record.totals;
  }

  get streamCreated(): string {
    return this.#record.streamCreated;
  }

  /** Promises a batch; to be called before any of its effects. */
  async begin(pending: Pending): Promise<LedgerWrite> {
    if (this.#record.pending !== undefined) throw new Error('ledger: a batch is pending already');
    const first = pending.seqs[0]?.[0] ?? 0;
    if (first <= this.#record.hwm) throw new Error('ledger: a batch must come after the last one');
    return this.#write({ ...this.#record, pending });
  }

  /** Declares the pending batch done; to be called after all of its effects, and before its messages are acked. */
  async finish(): Promise<LedgerWrite> {
    const { pending, ...rest } = this.#record;
    if (pending === undefined) throw new Error('ledger: no batch is pending');
    const hwm = pending.seqs.at(-1)?.[1] ?? rest.hwm;
    return this.#write({ ...rest, hwm, totals: sum(rest.totals, pending.counts) });
  }

  async #write(next: LedgerRecord): Promise<LedgerWrite> {
    const { bucket, key, retry, writer } = this.#options;
    const record = { ...next, step: this.#record.step + 1 };
    const written = await retry(() => put(bucket, key, record, this.#revision));
    if (written.kind === 'written') {
      this.#accept(record, written.revision);
      return 'written';
    }
    // A write whose answer was lost and which was tried again conflicts with itself.
    const read = await retry(() => bucket.get(key));
    const own = read.kind === 'found' && read.record.writer === writer;
    if (!own || read.record.step !== record.step) return 'lost';
    this.#accept(record, read.revision);
    return 'written';
  }

  #accept(record: LedgerRecord, revision: number): void {
    this.#record = record;
    this.#revision = revision;
  }
}

/** Narrows a record's JSON; undefined where it is of another version or damaged. */
export function readLedgerRecord(value: unknown): LedgerRecord | undefined {
  if (!isRecord(value)) return undefined;
  return value;
}

/** The sequences of a batch as ascending inclusive ranges. */
export function rangesOf(seqs: ArrayLike<number>): [number, number][] {
  const ranges: [number, number][] = [];
  for (let index = 0; index < seqs.length; index++) {
    const seq = seqs[index] ?? 0;
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === seq) last[1] = seq;
    else ranges.push([seq, seq]);
  }
  return ranges;
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

function isRecord(value: unknown): value is LedgerRecord {
  if (typeof value !== 'object' || value === null) return false;
  const record: Partial<Record<keyof LedgerRecord, unknown>> = value;
  return (
    record.schemaVersion === schemaVersion &&
    typeof record.streamCreated === 'string' &&
    typeof record.hwm === 'number' &&
    typeof record.writer === 'string' &&
    typeof record.step === 'number' &&
    isTotals(record.totals) &&
    (record.pending === undefined || isPending(record.pending))
  );
}

function isPending(value: unknown): value is Pending {
  if (typeof value !== 'object' || value === null) return false;
  const pending: Partial<Record<keyof Pending, unknown>> = value;
  return Array.isArray(pending.seqs) && Array.isArray(pending.inserts) && isTotals(pending.counts);
}

function isTotals(value: unknown): value is Totals {
  if (typeof value !== 'object' || value === null) return false;
  const totals: Partial<Record<keyof Totals, unknown>> = value;
  return (
    typeof totals.accepted === 'number' &&
    typeof totals.stored === 'number' &&
    typeof totals.duplicates === 'number' &&
    typeof totals.deadLetters === 'number'
  );
}
