// The secret of each UTC day from which cookieless ids are derived: one for all processes, agreed on in a bucket, kept
// in memory while it may be used, erased from the broker's disk afterwards, by the broker's time. visitor-ids.ts
// derives the ids.

import { randomBytes } from 'node:crypto';
import type { RecordBucket, VersionedRecord } from '../../platform/broker/record-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import { dayMs, utcDateOf } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';

const saltBytes = 32;

/** The next day's salt is made this long before midnight, so that the first requests of the day find it. */
const prepareAheadMs = 60_000;
const tickEveryMs = 10_000;
/** After a failure all requests fail for this long, instead of asking a broker that does not answer. */
const retryAfterMs = 1_000;

interface SaltRecord extends VersionedRecord {
  schemaVersion: 1;
  /** 32 bytes in base64. */
  salt: string;
}

export function readSalt(value: unknown): SaltRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const salt: unknown = Reflect.get(value, 'salt');
  if (Reflect.get(value, 'schemaVersion') !== 1 || typeof salt !== 'string') return undefined;
  const isWhole = /^[A-Za-z0-9+/]{43}=$/.test(salt);
  return isWhole ? { schemaVersion: 1, salt } : undefined;
}

/** `outside`: the day's salt may not be used any more, or not yet. */
export type DaySalt =
  | { kind: 'salt'; salt: Buffer }
  | { kind: 'unavailable' }
  | { kind: 'corrupt' }
  | { kind: 'outside' };

/** RecordBucket's reading and creating, and three calls for erasing. */
export interface SaltBucket extends Pick<RecordBucket<SaltRecord>, 'get' | 'create'> {
  /** Every key that has a value, with its revision. */
  entries(): Promise<{ key: string; revision: number }[]>;
  /** The broker's time, now. */
  brokerNowMs(): Promise<number>;
  /** Overwrites a revision's bytes on the broker's disk. */
  erase(revision: number): Promise<void>;
}

export interface SaltOptions {
  bucket: SaltBucket;
  clock: Clock;
  log: Log;
}

interface Failure {
  kind: 'unavailable' | 'corrupt';
  atMs: number;
}

/** The UTC day, counted from the epoch. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / dayMs);
}

/** A day's key in the bucket: 2026-11-20. */
export function saltKey(day: number): string {
  return utcDateOf(day);
}

export class Salts {
  readonly #options: SaltOptions;
  readonly #held = new Map<number, Buffer>();
  readonly #failed = new Map<number, Failure>();
  readonly #reading = new Map<number, Promise<DaySalt>>();
  /** The last day on which every salt that was out of use was erased: by both clocks. */
  #erasedOn = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SaltOptions) {
    this.#options = options;
  }

  /** Loads the salts that today needs, and ticks until closed. Never rejects. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.tick(), tickEveryMs);
    this.#timer.unref();
    await this.tick();
  }

  close(): void {
    clearInterval(this.#timer);
    for (const day of [...this.#held.keys()]) this.#forget(day);
  }

  /** The salt of a UTC day, which must be today or yesterday; at once where memory has it. Never rejects. */
  of(day: number): DaySalt | Promise<DaySalt> {
    const nowMs = this.#options.clock.nowMs();
    const today = dayOf(nowMs);
    if (day < today - 1 || day > today) return { kind: 'outside' };
    const salt = this.#held.get(day);
    if (salt !== undefined) return { kind: 'salt', salt };
    const failure = this.#failed.get(day);
    if (failure !== undefined && Math.abs(nowMs - failure.atMs) < retryAfterMs) {
      return { kind: failure.kind };
    }
    return this.#read(day);
  }

  /** Forgets and erases salts that are out of use, loads those in use, makes the next one. Never rejects. */
  async tick(): Promise<void> {
    const { bucket, clock, log } = this.#options;
    const nowMs = clock.nowMs();
    const today = dayOf(nowMs);
    for (const day of [...this.#held.keys()]) if (day < today - 1) this.#forget(day);
    for (const day of [...this.#failed.keys()]) if (day < today - 1) this.#failed.delete(day);
    // Erases before any salt is made: a block of the broker's store in which no message is left is removed as a whole,
    // with the bytes of messages that the bucket's age limit had removed from it.
    if (this.#erasedOn < today) {
      try {
        // A clock that is ahead, if only for a moment, must not end the salts that every other process uses.
        const safeDay = Math.min(today, dayOf(await bucket.brokerNowMs()));
        if (this.#erasedOn < safeDay) await this.#eraseBefore(safeDay - 1);
        this.#erasedOn = safeDay;
      } catch (error) {
        log.warn(
          { err: error },
          'salts that are out of use could not be erased, it is tried again',
        );
      }
    }
    await Promise.all([today - 1, today].map((day) => this.of(day)));
    const tomorrow = today + 1;
    const isNear = tomorrow * dayMs - nowMs <= prepareAheadMs;
    if (isNear && !this.#held.has(tomorrow)) await this.#read(tomorrow);
  }

  #forget(day: number): void {
    this.#held.get(day)?.fill(0);
    this.#held.delete(day);
  }

  async #eraseBefore(firstKept: number): Promise<void> {
    const { bucket, log } = this.#options;
    const firstKeptKey = saltKey(firstKept);
    for (const { key, revision } of await bucket.entries()) {
      // Keys are dates: their order as text is their order in time.
      if (key >= firstKeptKey) continue;
      await bucket.erase(revision);
      log.info({ day: key }, 'the salt of a past day is erased');
    }
  }

  /** Reads a day's salt, or makes it. Requests that need it at the same time share one reading. */
  #read(day: number): Promise<DaySalt> {
    const reading =
      this.#reading.get(day) ??
      this.#readOrMake(day)
        .catch((error: unknown): DaySalt => {
          this.#options.log.warn({ day: saltKey(day), err: error }, 'a salt is unavailable');
          return { kind: 'unavailable' };
        })
        .then((found) => {
          this.#reading.delete(day);
          return this.#keep(day, found);
        });
    this.#reading.set(day, reading);
    return reading;
  }

  #keep(day: number, found: DaySalt): DaySalt {
    const { clock } = this.#options;
    const nowMs = clock.nowMs();
    // The day may have gone out of use while its salt was read.
    if (day < dayOf(nowMs) - 1) return { kind: 'outside' };
    switch (found.kind) {
      case 'salt':
        this.#held.set(day, found.salt);
        this.#failed.delete(day);
        break;
      case 'unavailable':
      case 'corrupt':
        this.#failed.set(day, { kind: found.kind, atMs: nowMs });
        break;
      case 'outside':
        break;
      default:
        found satisfies never;
    }
    return found;
  }

  async #readOrMake(day: number): Promise<DaySalt> {
    const { bucket, log } = this.#options;
    const key = saltKey(day);
    const found = await bucket.get(key);
    switch (found.kind) {
      case 'found':
        return { kind: 'salt', salt: Buffer.from(found.record.salt, 'base64') };
      case 'unreadable':
        log.error(
          { day: key },
          'a salt cannot be decoded: cookieless events of its day are dropped',
        );
        return { kind: 'corrupt' };
      case 'absent': {
        const salt = randomBytes(saltBytes).toString('base64');
        const made = await bucket.create(key, { schemaVersion: 1, salt });
        // Another process was first, and its salt counts for all.
        if (made.kind === 'conflict') return this.#readOrMake(day);
        return { kind: 'salt', salt: Buffer.from(salt, 'base64') };
      }
      default:
        return found satisfies never;
    }
  }
}
