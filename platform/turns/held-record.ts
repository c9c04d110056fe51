// The lease of one process on one record, and the record while it is held. Every write is a compare-and-set: whoever
// has lost the lease writes nothing more.

import type { ReadResult, RecordBucket, VersionedRecord } from '../broker/record-bucket.ts';
import type { Clock } from '../clock.ts';

export interface LeasedRecord extends VersionedRecord {
  /** Other processes leave what the record is about alone until then. */
  leaseEndMs: number;
}

export type LeasedBucket<T> = Pick<RecordBucket<T & VersionedRecord>, 'get' | 'create' | 'update'>;

/**
 * The longest step between two writes is a mail, of 40 s: where less is left, none that others could repeat is begun.
 */
const safeMs = 45_000;

/** Another process works on it now. */
export class LeaseLost extends Error {}

/** False where the moment was written as further ahead than a lease is: the clock was set back meanwhile. */
export function isLeased({ leaseEndMs }: LeasedRecord, nowMs: number, leaseMs: number): boolean {
  return leaseEndMs > nowMs && leaseEndMs - nowMs <= leaseMs;
}

interface HeldParts<T extends LeasedRecord> {
  states: LeasedBucket<T>;
  clock: Clock;
  /** Longer than the longest step but a mail takes, and than a mail with it. */
  leaseMs: number;
}

export class HeldRecord<T extends LeasedRecord> {
  readonly #parts: HeldParts<T>;
  readonly #key: string;
  #revision: number;
  #record: T;

  private constructor(parts: HeldParts<T>, key: string, revision: number, record: T) {
    this.#parts = parts;
    this.#key = key;
    this.#revision = revision;
    this.#record = record;
  }

  /** Takes the lease on what was found, with `record` as its content; undefined where another process was first. */
  static async take<T extends LeasedRecord>(
    parts: HeldParts<T>,
    key: string,
    found: ReadResult<T>,
    record: T,
  ): Promise<HeldRecord<T> | undefined> {
    const { states, clock, leaseMs } = parts;
    const leased = { ...record, leaseEndMs: clock.nowMs() + leaseMs };
    const written =
      found.kind === 'absent'
        ? await states.create(key, leased)
        : await states.update(key, leased, found.revision);
    if (written.kind === 'conflict') return undefined;
    return new HeldRecord(parts, key, written.revision, leased);
  }

  get record(): T {
    return this.#record;
  }

  /** Writes the record and keeps the lease. Throws LeaseLost. */
  async write(next: T): Promise<void> {
    const { clock, leaseMs } = this.#parts;
    await this.#update({ ...next, leaseEndMs: clock.nowMs() + leaseMs });
  }

  /** Makes sure that nobody else begins meanwhile. Throws LeaseLost. */
  async renew(): Promise<void> {
    const { clock } = this.#parts;
    if (this.#record.leaseEndMs - clock.nowMs() < safeMs) await this.write(this.#record);
  }

  async release(): Promise<void> {
    await this.#update({ ...this.#record, leaseEndMs: 0 });
  }

  async #update(record: T): Promise<void> {
    const written = await this.#parts.states.update(this.#key, record, this.#revision);
    if (written.kind === 'conflict') throw new LeaseLost('another process has the lease');
    this.#revision = written.revision;
    this.#record = record;
  }
}
