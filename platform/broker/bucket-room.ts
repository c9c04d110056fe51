// Follows how full the buckets are. Beyond a share of a bucket, and while the disk is nearly full, new records are
// refused, so that what takes access away can always be written: revocations, sign-outs, removals. Beyond a higher
// share the process is not ready. The operator is told before both. What a record may grow by is record-bucket.ts's.

import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { type BucketName, buckets, recordQuotaBytes } from './buckets.ts';
import type { JetStreamManager, NatsConnection } from './nats.ts';
import { despiteSlowBroker } from './start/slow-broker.ts';

/** The room for records in one bucket. */
export interface BucketRoom {
  /** The bytes that one record may grow to. */
  readonly maxRecordBytes: number;
  /** Whether the rest of the bucket is kept for what must be written. */
  isScarce(): boolean;
  /** Counts a new record's bytes until the broker is asked again. */
  added(bytes: number): void;
  refused(): void;
}

/** From this share on the operator is told; the alarm is over below the second one. */
const alarmShare = 0.8;
const calmShare = 0.75;
/** From this share on new records are refused. */
const scarceShare = 0.9;
/** Nothing that others must be able to write can be counted on. Refused records never bring a bucket here. */
const fullShare = 0.95;
/** In this time the largest records that limits let one process write take a small part of any bucket. */
const askEveryMs = 2_000;
const askTimeoutMs = 1_000;
/** The broker stores a record's key and headers beside it. */
const overheadBytes = 256;

interface Use {
  bytes: number;
  maxBytes: number;
  isAlarmed: boolean;
}

interface FollowOptions {
  log: Log;
  metrics: Metrics;
  disk: { isScarce(): boolean };
}

/** Resolves once the use of every bucket is known. ensureTopology must have made the buckets before. */
export async function followBucketRoom(
  connection: NatsConnection,
  options: FollowOptions,
): Promise<BucketRooms> {
  const manager = await despiteSlowBroker(
    'the use of buckets is asked',
    () => connection.jetstreamManager({ timeout: askTimeoutMs }),
    options,
  );
  const rooms = new BucketRooms(manager, options);
  await despiteSlowBroker('the use of buckets is asked', () => rooms.ask(), options);
  rooms.start();
  return rooms;
}

export class BucketRooms {
  readonly #manager: JetStreamManager;
  readonly #log: Log;
  readonly #disk: FollowOptions['disk'];
  readonly #use = new Map<BucketName, Use>();
  readonly #usedRatio;
  readonly #alarms;
  readonly #refusals;
  #timer: NodeJS.Timeout | undefined;

  /** Use followBucketRoom. */
  constructor(manager: JetStreamManager, { log, metrics, disk }: FollowOptions) {
    this.#manager = manager;
    this.#log = log;
    this.#disk = disk;
    this.#usedRatio = metrics.gauge(
      'millrace_bucket_used_ratio',
      'The part of a bucket of the broker that is used, from 0 to 1.',
      ['bucket'],
    );
    this.#alarms = metrics.counter(
      'millrace_bucket_alarms_total',
      `How often a bucket has become ${alarmShare * 100} percent full.`,
      ['bucket'],
    );
    this.#refusals = metrics.counter(
      'millrace_bucket_refusals_total',
      'Records that were refused because their bucket or the disk is nearly full.',
      ['bucket'],
    );
  }

  start(): void {
    // Where the broker does not answer, the last known sizes stay; other checks report the broker.
    this.#timer = setInterval(() => void this.ask().catch(() => {}), askEveryMs);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Whether every bucket can still take what must be written. */
  isReady(): boolean {
    return Object.values(buckets).every((name) => this.#share(name) < fullShare);
  }

  /** What was last known of every bucket; `usedRatio` from 0 to 1. */
  use(): { name: BucketName; usedRatio: number; isScarce: boolean }[] {
    return Object.values(buckets).map((name) => {
      return { name, usedRatio: this.#share(name), isScarce: this.roomOf(name).isScarce() };
    });
  }

  roomOf(name: BucketName): BucketRoom {
    return {
      maxRecordBytes: recordQuotaBytes[name],
      isScarce: () => this.#disk.isScarce() || this.#share(name) >= scarceShare,
      added: (bytes) => {
        const use = this.#use.get(name);
        if (use !== undefined) use.bytes += bytes + overheadBytes;
      },
      refused: () => this.#refusals.inc({ bucket: name }),
    };
  }

  /** Asks the broker for the use of all buckets. */
  async ask(): Promise<void> {
    await Promise.all(
      Object.values(buckets).map(async (name) => {
        const { state, config } = await this.#manager.streams.info(`KV_${name}`);
        const isAlarmed = this.#use.get(name)?.isAlarmed ?? false;
        const use = { bytes: state.bytes, maxBytes: config.max_bytes, isAlarmed };
        this.#use.set(name, use);
        this.#tell(name, use);
      }),
    );
  }

  #share(name: BucketName): number {
    const use = this.#use.get(name);
    return use === undefined || use.maxBytes <= 0 ? 0 : use.bytes / use.maxBytes;
  }

  #tell(name: BucketName, use: Use): void {
    const share = this.#share(name);
    this.#usedRatio.set({ bucket: name }, share);
    const { bytes, maxBytes } = use;
    if (!use.isAlarmed && share >= alarmShare) {
      use.isAlarmed = true;
      this.#alarms.inc({ bucket: name });
      const message = `a bucket of the broker is nearly full: from ${scarceShare * 100} percent on new records are refused`;
      this.#log.error({ bucket: name, bytes, maxBytes }, message);
    } else if (use.isAlarmed && share < calmShare) {
      use.isAlarmed = false;
      this.#log.info({ bucket: name, bytes, maxBytes }, 'a bucket of the broker has room again');
    }
  }
}
