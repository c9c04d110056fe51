// Keeps a bucket in memory: every record that the broker holds is a map look-up away, and memory knows when it was last
// confirmed. The broker is asked again and again for its newest revision; where the watch lags behind, it starts anew.
// Not for buckets whose messages are erased by sequence: an erased record leaves memory only at the next replay.

import type { Log } from '../log.ts';
import { atBeat } from './beat.ts';
import { BucketMemory, type HeldRecord } from './bucket-memory.ts';
import { leaderInfo } from './cluster/leader-info.ts';
import { statusOf } from './connection/connection-status.ts';
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
import { despiteSlowBroker } from './start/slow-broker.ts';

interface WatchOptions {
  log: Log;
  /** The most time between two questions to the broker (1 s): a change that the watch missed shows 250 ms after it. */
  confirmEveryMs?: number;
}

const askTimeoutMs = 1_000;
const catchUpMs = 250;
const replayTimeoutMs = 10_000;

/**
 * Resolves when memory holds everything that the broker held at the call; throws where one reading takes over 10 s, or
 * the broker does not answer for a minute. Memory is confirmed until the bucket or the connection is closed.
 */
export async function watchBucket<T extends VersionedRecord>(
  connection: NatsConnection,
  bucket: RecordBucket<T>,
  options: WatchOptions,
): Promise<WatchedBucket<T>> {
  const start = async (): Promise<WatchedBucket<T>> => {
    const manager = await connection.jetstreamManager({ timeout: askTimeoutMs });
    const watched = new WatchedBucket(manager, bucket, options);
    await watched.start(connection);
    return watched;
  };
  return despiteSlowBroker(`the bucket ${bucket.name} is read`, start, options);
}

export class WatchedBucket<T extends VersionedRecord> {
  readonly #manager: JetStreamManager;
  readonly #bucket: RecordBucket<T>;
  readonly #log: Log;
  readonly #confirmEveryMs: number;
  readonly #memory = new BucketMemory<T>();
  /** The newest revision that has come through the watch. */
  #seen = 0;
  /** The bucket's time of creation: another one means a new bucket of the same name, whose revisions start at 1. */
  #created = '';
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #watch: QueuedIterator<KvEntry> | undefined;
  #status: ReturnType<typeof statusOf> | undefined;
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
    this.#status = statusOf(connection);
    void this.#followConnection(this.#status);
  }

  /** The record in memory. */
  get(key: string): { record: T; revision: number } | undefined {
    return this.#memory.get(key);
  }

  /** Every record in memory. */
  records(): Generator<[key: string, record: T]> {
    return this.#memory.records();
  }

  /** Calls `listener` with each key whose record has changed in memory, by own writes too. It must not throw. */
  onChange(listener: (key: string) => void): void {
    this.#memory.onChange(listener);
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

  /** Whatever the record is; once it resolves, neither the broker nor memory has it. Nothing where there is none. */
  async remove(key: string): Promise<void> {
    const { kv } = this.#bucket;
    const before = await kv.get(key);
    if (before === null) return;
    if (before.operation === 'PUT') await kv.delete(key);
    const after = before.operation === 'PUT' ? await kv.get(key) : before;
    // Another writer may have made the key anew at that moment: the watch brings it.
    if (after === null || after.operation === 'PUT') return;
    this.#memory.keep(key, { record: undefined, revision: after.revision });
  }

  /** The broker's own answer, past memory. */
  ask(key: string): Promise<ReadResult<T>> {
    return this.#bucket.get(key);
  }

  async close(): Promise<void> {
    this.#end();
    await this.#loop;
  }

  #end(): void {
    this.#closed = true;
    this.#watch?.stop();
    this.#status?.stop();
    this.#wakeUp();
  }

  // Revisions of one key are in order, so an own write need not wait until the watch brings it back.
  #keepOwn(key: string, record: T, result: WriteResult): WriteResult {
    if (result.kind === 'written') this.#memory.keep(key, { record, revision: result.revision });
    return result;
  }

  async #confirm(): Promise<void> {
    const askedAt = performance.now();
    const info = await leaderInfo(this.#manager, `KV_${this.#bucket.name}`);
    if (this.#closed) return;
    const missed = this.#replayNeeded || info.created !== this.#created;
    this.#replayNeeded = false;
    if (missed || !(await this.#reach(newestRevision(info)))) await this.#replay(info);
    this.#confirmedAt = askedAt;
  }

  /** Whether the watch reaches `revision` within 250 ms. */
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

  /** Reads the whole bucket again, then exchanges memory for the result and goes on with the same watch. */
  async #replay(info: StreamInfo): Promise<void> {
    this.#watch?.stop();
    const newest = newestRevision(info);
    const staged = new Map<string, HeldRecord<T>>();
    const watch = await this.#bucket.kv.watch();
    if (this.#closed) return watch.stop();
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
    staged: Map<string, HeldRecord<T>>,
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
          this.#memory.keep(entry.key, held);
          this.#sawRevision(entry.revision);
        }
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'a watch ended, it will be started anew');
    }
    if (this.#watch === watch) this.#watch = undefined;
  }

  #exchange(staged: Map<string, HeldRecord<T>>, info: StreamInfo): void {
    const newest = newestRevision(info);
    // Another bucket of the same name counts anew, so no revision of the old one may stay.
    this.#memory.exchange(staged, info.created === this.#created ? newest : Infinity);
    this.#created = info.created;
    this.#seen = 0;
    this.#sawRevision(newest);
  }

  #sawRevision(revision: number): void {
    this.#seen = Math.max(this.#seen, revision);
    if (this.#awaited !== undefined && this.#seen >= this.#awaited.revision) this.#awaited.done();
  }

  #heldOf(entry: KvEntry): HeldRecord<T> {
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
      const callOff = atBeat(this.#confirmEveryMs, resolve);
      this.#wake = () => {
        callOff();
        resolve();
      };
    });
  }

  #wakeUp(): void {
    this.#woken = true;
    this.#wake();
  }

  // Messages that were published while the connection was down never reach the watch.
  async #followConnection(status: ReturnType<typeof statusOf>): Promise<void> {
    for await (const { type } of status) {
      if (type !== Events.Reconnect) continue;
      this.#replayNeeded = true;
      this.#wakeUp();
    }
    // A bucket that nobody closed would ask a closed connection for ever, and keep the process alive.
    this.#end();
  }
}

/** The revision of the newest message that is still there; 0 where the bucket is empty. */
function newestRevision(info: StreamInfo): number {
  return info.state.messages === 0 ? 0 : info.state.last_seq;
}
