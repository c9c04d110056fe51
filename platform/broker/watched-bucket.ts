// A bucket kept in memory: every record the broker holds, a map look-up away, with a measure of how sure that is. The
// broker is asked again and again for its newest revision; where memory has not followed, the watch is started anew.
// Not for buckets whose messages are erased by sequence: what is erased leaves memory only at the next replay.

import type { Log } from '../log.ts';
import {
  Events,
  type JetStreamManager,
  type KvEntry,
  type NatsConnection,
  type QueuedIterator,
  type StreamInfo,
} from './nats.ts';
import {
  type ReadResult,
  type RecordBucket,
  readEntry,
  type VersionedRecord,
  type WriteResult,
} from './record-bucket.ts';

export interface WatchOptions {
  log: Log;
  /** How often the broker is asked (1 s): a change that the watch missed is found after at most this and 250 ms. */
  confirmEveryMs?: number;
}

const askTimeoutMs = 1_000;
const catchUpMs = 250;
const replayTimeoutMs = 10_000;

interface Held<T> {
  /** Undefined once the key is deleted: its revision is kept, so that an older value cannot come back. */
  record: T | undefined;
  revision: number;
}

/** Resolves when memory holds everything that the broker held; throws where that takes over 10 s. */
export async function watchBucket<T extends VersionedRecord>(
  connection: NatsConnection,
  bucket: RecordBucket<T>,
  options: WatchOptions,
): Promise<WatchedBucket<T>> {
  const manager = await connection.jetstreamManager({ timeout: askTimeoutMs });
  const watched = new WatchedBucket(manager, bucket, options);
  await watched.start(connection);
  return watched;
}

export class WatchedBucket<T extends VersionedRecord> {
  readonly #manager: JetStreamManager;
  readonly #bucket: RecordBucket<T>;
  readonly #log: Log;
  readonly #confirmEveryMs: number;
  readonly #listeners: ((key: string) => void)[] = [];
  #memory = new Map<string, Held<T>>();
  /** The newest revision that has come through the watch. */
  #seen = 0;
  /** When the bucket was made: another time means another bucket of the same name, counting from 1 again. */
  #created = '';
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #watch: QueuedIterator<KvEntry> | undefined;
  #awaited: { revision: number; done: () => void } | undefined;
  #replayNeeded = false;
  #woken = false;
  #wake: () => void = () => {};
  #closed = false;
  #loop: Promise<void> = Promise.resolve();

  /** Use watchBucket. */
  constructor(manager: JetStreamManager, bucket: RecordBucket<T>, options: WatchOptions) {
    this.#manager = manager;
    this.#bucket = bucket;
    this.#log = options.log.child({ bucket: bucket.name });
    this.#confirmEveryMs = options.confirmEveryMs ?? 1_000;
  }

  async start(connection: NatsConnection): Promise<void> {
    await this.#confirm();
    this.#loop = this.#confirmAgainAndAgain();
    void this.#followConnection(connection);
  }

  /** The record in memory. */
  get(key: string): { record: T; revision: number } | undefined {
    const held = this.#memory.get(key);
    if (held?.record === undefined) return undefined;
    return { record: held.record, revision: held.revision };
  }

  /** Every record in memory. */
  *records(): Generator<[key: string, record: T]> {
    for (const [key, { record }] of this.#memory) {
      if (record !== undefined) yield [key, record];
    }
  }

  /** Told of each key whose record has changed in memory, by own writes too. Must not throw. */
  onChange(listener: (key: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Milliseconds since memory was last known to hold everything that the broker holds. */
  unconfirmedMs(): number {
    return performance.now() - this.#confirmedAt;
  }

  /** The bucket's `create`; once it resolves with `written`, memory holds the record. */
  async create(key: string, record: T): Promise<WriteResult> {
    return this.#keepOwn(key, record, await this.#bucket.create(key, record));
  }

  /** The bucket's `update`; once it resolves with `written`, memory holds the record. */
  async update(key: string, record: T, revision: number): Promise<WriteResult> {
    return this.#keepOwn(key, record, await this.#bucket.update(key, record, revision));
  }

  /** Past memory: what the broker holds now. */
  ask(key: string): Promise<ReadResult<T>> {
    return this.#bucket.get(key);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#watch?.stop();
    this.#wakeUp();
    await this.#loop;
  }

  // Revisions of one key are in order, so an own write need not wait for the watch to bring it back.
  #keepOwn(key: string, record: T, result: WriteResult): WriteResult {
    if (result.kind === 'written') this.#keep(key, { record, revision: result.revision });
    return result;
  }

  #keep(key: string, next: Held<T>): void {
    const held = this.#memory.get(key);
    if (held !== undefined && held.revision >= next.revision) return;
    this.#memory.set(key, next);
    for (const listener of this.#listeners) listener(key);
  }

  async #confirm(): Promise<void> {
    const askedAt = performance.now();
    const info = await this.#manager.streams.info(`KV_${this.#bucket.name}`);
    const missed = this.#replayNeeded || info.created !== this.#created;
    this.#replayNeeded = false;
    if (missed || !(await this.#reach(newestRevision(info)))) await this.#replay(info);
    this.#confirmedAt = askedAt;
  }

  /** Whether the watch comes to `revision` in time. */
  async #reach(revision: number): Promise<boolean> {
    if (this.#watch === undefined) return false;
    if (this.#seen < revision) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, catchUpMs);
        const done = () => {
          clearTimeout(timer);
          resolve();
        };
        this.#awaited = { revision, done };
      });
      this.#awaited = undefined;
    }
    return this.#seen >= revision;
  }

  /** Reads the whole bucket again, then exchanges memory for what was read and goes on with the same watch. */
  async #replay(info: StreamInfo): Promise<void> {
    this.#watch?.stop();
    const newest = newestRevision(info);
    const staged = new Map<string, Held<T>>();
    const watch = await this.#bucket.kv.watch();
    this.#watch = watch;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        watch.stop();
        reject(new Error(`bucket ${this.#bucket.name} is not read after ${replayTimeoutMs} ms`));
      }, replayTimeoutMs);
      const exchange = () => {
        clearTimeout(timer);
        this.#exchange(staged, info);
        resolve();
      };
      void this.#follow(watch, newest, staged, exchange);
    });
  }

  async #follow(
    watch: QueuedIterator<KvEntry>,
    newest: number,
    staged: Map<string, Held<T>>,
    exchange: () => void,
  ): Promise<void> {
    let replaying = newest > 0;
    if (!replaying) exchange();
    try {
      for await (const entry of watch) {
        if (this.#watch !== watch) return;
        const held = this.#heldOf(entry);
        if (replaying) {
          staged.set(entry.key, held);
          replaying = entry.revision < newest;
          if (!replaying) exchange();
        } else {
          this.#keep(entry.key, held);
          this.#sawRevision(entry.revision);
        }
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'a watch ended, it will be started anew');
    }
    if (this.#watch === watch) this.#watch = undefined;
  }

  #exchange(staged: Map<string, Held<T>>, info: StreamInfo): void {
    const before = this.#memory;
    const newest = newestRevision(info);
    if (info.created === this.#created) {
      // Own writes that are newer than what was asked for.
      for (const [key, held] of before) {
        if (held.revision > newest && held.revision > (staged.get(key)?.revision ?? 0)) {
          staged.set(key, held);
        }
      }
    }
    this.#memory = staged;
    this.#created = info.created;
    this.#seen = 0;
    this.#sawRevision(newest);
    for (const key of new Set([...before.keys(), ...staged.keys()])) {
      if (before.get(key)?.revision === staged.get(key)?.revision) continue;
      for (const listener of this.#listeners) listener(key);
    }
  }

  #sawRevision(revision: number): void {
    this.#seen = Math.max(this.#seen, revision);
    if (this.#awaited !== undefined && this.#seen >= this.#awaited.revision) this.#awaited.done();
  }

  #heldOf(entry: KvEntry): Held<T> {
    const result = readEntry(entry, this.#bucket.read);
    if (result.kind === 'found') return result;
    if (result.kind === 'unreadable') {
      this.#log.error({ key: entry.key, revision: entry.revision }, 'a record cannot be read');
    }
    return { record: undefined, revision: entry.revision };
  }

  async #confirmAgainAndAgain(): Promise<void> {
    let failing = false;
    while (!this.#closed) {
      try {
        await this.#confirm();
        if (failing) this.#log.info('records are confirmed again');
        failing = false;
      } catch (error) {
        if (!failing && !this.#closed) this.#log.warn({ err: error }, 'records are not confirmed');
        failing = true;
      }
      if (!this.#woken) await this.#pause();
      this.#woken = false;
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#confirmEveryMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #wakeUp(): void {
    this.#woken = true;
    this.#wake();
  }

  // What was published while the connection was down never reaches the watch.
  async #followConnection(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (this.#closed) return;
      if (type !== Events.Reconnect) continue;
      this.#replayNeeded = true;
      this.#wakeUp();
    }
  }
}

/** Of the messages that are still there, the newest one's revision; 0 where the bucket is empty. */
function newestRevision(info: StreamInfo): number {
  return info.state.messages === 0 ? 0 : info.state.last_seq;
}
