// What the broker holds for us: streams, their consumers and buckets, by name and configuration, and the number of
// shards, which is fixed at the first start. What flows through them is not known here.

import { crc32 } from 'node:zlib';
import { openInstance, readInstance } from './instance.ts';
import {
  AckPolicy,
  apiErrorCode,
  type ConsumerConfig,
  DeliverPolicy,
  type JetStreamManager,
  type NatsConnection,
  nanos,
  StorageType,
  type StreamInfo,
} from './nats.ts';
import { openBucket } from './record-bucket.ts';

import {
  deadLetterConfig,
  deadLetterStream,
  eventsConfig,
  eventsStream,
  type OurStream,
  profilesConfig,
  profilesStream,
  writerConsumer,
} from './streams.ts';

export {
  deadLetterStream,
  deadLetterSubject,
  eventsStream,
  eventsSubject,
  profilesLedgerKey,
  profilesStream,
  profilesSubject,
  writerConsumer,
} from './streams.ts';

export const buckets = {
  instance: 'instance',
  organizations: 'orgs',
  projects: 'projects',
  ledger: 'ledger',
  salts: 'salts',
  customers: 'customers',
  owners: 'owners',
  sessions: 'sessions',
  magicLinks: 'magic_links',
} as const;

type BucketName = (typeof buckets)[keyof typeof buckets];

const KiB = 1_024;
const MiB = 1_024 * KiB;
const hourMs = 3_600_000;

const bucketOptions = {
  instance: { history: 1, max_bytes: 1 * MiB, maxValueSize: 64 * KiB },
  orgs: { history: 5, max_bytes: 256 * MiB, maxValueSize: 512 * KiB },
  projects: { history: 5, max_bytes: 256 * MiB, maxValueSize: 512 * KiB },
  ledger: { history: 1, max_bytes: 64 * MiB, maxValueSize: 1 * MiB },
  // Whoever runs erases a salt 48 h after its day began. The age is for when nobody does, and an hour longer than that:
  // it counts from when the salt was made, up to a minute before its day, and what it takes away is not overwritten.
  salts: { history: 1, max_bytes: 1 * MiB, maxValueSize: 1 * KiB, ttl: 49 * hourMs },
  customers: { history: 1, max_bytes: 96 * MiB, maxValueSize: 64 * KiB },
  owners: { history: 1, max_bytes: 64 * MiB, maxValueSize: 4 * KiB },
  // Each refresh writes the record anew: what nobody refreshed for 90 days is gone.
  sessions: { history: 1, max_bytes: 128 * MiB, maxValueSize: 16 * KiB, ttl: 90 * 24 * hourMs },
  magic_links: { history: 1, max_bytes: 16 * MiB, maxValueSize: 4 * KiB, ttl: hourMs },
} as const satisfies Record<BucketName, object>;

export interface TopologyOptions {
  /** Bytes that all events streams together may hold. */
  eventsMaxBytes: number;
  shards: number;
  /** Copies of each stream and bucket; an existing one keeps what it has. */
  replicas?: number;
}

export interface Topology {
  /** A random id, made at the first start: another one means that the broker's data is not the same any more. */
  instanceId: string;
  /** In force for each events stream. Larger than asked for where lowering it could have dropped stored messages. */
  maxBytesPerShard: number;
}

/**
 * Makes what is missing and brings up to date what may change; safe to call again and from several processes at once.
 * Throws one sentence where the broker has no JetStream or too little storage, where `shards` is not the number of
 * the first start, where a stream or consumer exists with a configuration that cannot be changed to ours, and where
 * something that was made at an earlier start is gone.
 */
export async function ensureTopology(
  connection: NatsConnection,
  options: TopologyOptions,
): Promise<Topology> {
  const replicas = options.replicas ?? 1;
  const manager = await openManager(connection);
  await ensureBucket(connection, buckets.instance, replicas);
  const bucket = await openBucket(connection, buckets.instance, readInstance);
  const instance = await openInstance(bucket, options.shards);
  const { made } = instance.record;
  for (const name of Object.values(buckets)) {
    await refuseLost(manager, made, `KV_${name}`);
    await ensureBucket(connection, name, replicas);
  }
  const perShard = Math.floor(options.eventsMaxBytes / options.shards);
  let maxBytesPerShard = perShard;
  for (let shard = 0; shard < options.shards; shard++) {
    for (const config of [eventsConfig, profilesConfig]) {
      const wanted = config(shard, perShard, replicas);
      await refuseLost(manager, made, wanted.name);
      const stream = await ensureStream(manager, wanted);
      if (config === eventsConfig) {
        maxBytesPerShard = Math.max(maxBytesPerShard, stream.config.max_bytes);
      }
      await ensureConsumer(manager, wanted.name, writerConfig);
    }
  }
  await refuseLost(manager, made, deadLetterStream);
  await ensureStream(manager, deadLetterConfig(options.eventsMaxBytes, replicas));
  await instance.recordMade(everyStream(options.shards));
  return { instanceId: instance.record.instanceId, maxBytesPerShard };
}

/** The shard of a project: fixed for ever by its id and the number of shards. */
export function shardOf(projectId: string, shards: number): number {
  return shards === 1 ? 0 : crc32(projectId) % shards;
}

// Every message of a batch waits for its ack until the insert is through, while the next batch is already being read:
// two batches' worth even where most frames carry a handful of events. The server writes the list of what is pending
// again and again, which is the reason not to ask for more.
const writerConfig = {
  durable_name: writerConsumer,
  ack_policy: AckPolicy.Explicit,
  deliver_policy: DeliverPolicy.All,
  ack_wait: nanos(60_000),
  max_ack_pending: 20_000,
  max_deliver: -1,
} as const satisfies Partial<ConsumerConfig>;

async function openManager(connection: NatsConnection): Promise<JetStreamManager> {
  try {
    return await connection.jetstreamManager();
  } catch (error) {
    throw new Error('the broker runs without JetStream: start nats-server with -js', {
      cause: error,
    });
  }
}

async function ensureBucket(
  connection: NatsConnection,
  name: BucketName,
  replicas: number,
): Promise<void> {
  const options = { ...bucketOptions[name], replicas, storage: StorageType.File };
  await despiteRace(() => connection.jetstream().views.kv(name, options));
}

function everyStream(shards: number): string[] {
  const kept = Object.values(buckets).map((name) => `KV_${name}`);
  const queues = [eventsStream, profilesStream].flatMap((name) =>
    Array.from({ length: shards }, (_, shard) => name(shard)),
  );
  return [...kept, ...queues, deadLetterStream];
}

// A broker that starts with too small a max_file_store leaves streams out without a word, and making one of that name
// again, with a smaller limit, would drop what its files hold.
async function refuseLost(
  manager: JetStreamManager,
  made: readonly string[],
  name: string,
): Promise<void> {
  if (!made.includes(name) || (await unless(noSuchStream, manager.streams.info(name)))) return;
  throw new Error(
    `the broker has lost the stream ${name} that it held before: raise its max_file_store or restore its data; ` +
      `to start anew without that data, delete the bucket ${buckets.instance}`,
  );
}

const insufficientStorage = 10_047;
const nameInUse = 10_058;
const noSuchStream = 10_059;
const subjectsOverlap = 10_065;
const noSuchConsumer = 10_014;

const fixedStreamFields = [
  'subjects',
  'retention',
  'storage',
  'discard',
  'max_age',
] as const satisfies (keyof OurStream)[];

async function ensureStream(manager: JetStreamManager, wanted: OurStream): Promise<StreamInfo> {
  const existing = await despiteRace(() => findOrAddStream(manager, wanted));
  for (const field of fixedStreamFields) {
    refuseOther(`stream ${wanted.name}`, field, existing.config[field], wanted[field]);
  }
  const { max_bytes: is } = existing.config;
  if (is === wanted.max_bytes || !mayBecome(wanted.max_bytes, existing)) return existing;
  const update = { ...existing.config, max_bytes: wanted.max_bytes };
  return withStorage(wanted, manager.streams.update(wanted.name, update));
}

async function findOrAddStream(manager: JetStreamManager, wanted: OurStream): Promise<StreamInfo> {
  return (
    (await unless(noSuchStream, manager.streams.info(wanted.name))) ??
    (await unless(nameInUse, withStorage(wanted, manager.streams.add(wanted)))) ??
    (await manager.streams.info(wanted.name))
  );
}

/**
 * nats-server 2.9 takes a stream that another process is just creating for an overlap with itself (2 in 100 of four
 * concurrent creations); by the answer's time that stream is there, so a second call finds it.
 */
async function despiteRace<T>(call: () => Promise<T>): Promise<T> {
  return (await unless(subjectsOverlap, call())) ?? (await call());
}

// nats-server drops the oldest messages where max_bytes becomes smaller than what is stored, `discard: new` or not. A
// limit is lowered only where twice as much would fit, so that no publish in between can reach it.
function mayBecome(maxBytes: number, stream: StreamInfo): boolean {
  return maxBytes > stream.config.max_bytes || stream.state.bytes <= maxBytes / 2;
}

async function withStorage<T>(wanted: OurStream, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (apiErrorCode(error) !== insufficientStorage) throw error;
    const room = Math.ceil(wanted.max_bytes / MiB);
    throw new Error(
      `the broker has no ${room} MiB to reserve for stream ${wanted.name}: ` +
        "allow fewer bytes of events, or raise the broker's max_file_store",
      { cause: error },
    );
  }
}

async function ensureConsumer(
  manager: JetStreamManager,
  stream: string,
  wanted: typeof writerConfig,
): Promise<void> {
  const existing =
    (await unless(noSuchConsumer, manager.consumers.info(stream, wanted.durable_name))) ??
    (await manager.consumers.add(stream, wanted));
  const { config } = existing;
  const name = `consumer ${wanted.durable_name} of stream ${stream}`;
  for (const field of ['ack_policy', 'deliver_policy', 'max_deliver'] as const) {
    refuseOther(name, field, config[field], wanted[field]);
  }
  refuseOther(name, 'filter_subject', config.filter_subject, undefined);
  const { ack_wait, max_ack_pending } = wanted;
  if (config.ack_wait === ack_wait && config.max_ack_pending === max_ack_pending) return;
  await manager.consumers.update(stream, wanted.durable_name, {
    ...config,
    ack_wait,
    max_ack_pending,
  });
}

function refuseOther(name: string, field: string, is: unknown, wanted: unknown): void {
  const [found, expected] = [JSON.stringify(is), JSON.stringify(wanted)];
  if (found === expected) return;
  throw new Error(`the broker's ${name} has ${field} ${found} where ${expected} is needed`);
}

/** Undefined where the call fails with this code of JetStream's. */
async function unless<T>(code: number, call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (apiErrorCode(error) === code) return undefined;
    throw error;
  }
}
