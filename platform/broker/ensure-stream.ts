// Makes one stream, consumer or bucket of the broker, or brings an existing one up to date. The list of them is
// topology.ts.

import { type BucketName, bucketOptions } from './buckets.ts';
import {
  nameInUse,
  noPeers,
  noSuchConsumer,
  noSuchStream,
  notClustered,
  outOfStorage,
  subjectsOverlap,
} from './connection/error-codes.ts';
import {
  apiErrorCode,
  type JetStreamManager,
  type NatsConnection,
  nanos,
  StorageType,
  type StreamInfo,
} from './nats.ts';
import type { OurStream, writerConfig } from './streams.ts';

const MiB = 1_048_576;

export async function ensureBucket(
  connection: NatsConnection,
  name: BucketName,
  replicas: number,
): Promise<void> {
  const options = { ...bucketOptions[name], replicas, storage: StorageType.File };
  const wanted = { name: `KV_${name}`, max_bytes: options.max_bytes, num_replicas: replicas };
  const bucket = await despiteRace(() =>
    withStorage(wanted, connection.jetstream().views.kv(name, options)),
  );
  const { streamInfo } = await bucket.status();
  const { config } = streamInfo;
  // Earlier revisions take room that no quota counts.
  const hasHistory = config.max_msgs_per_subject > options.history;
  const max_age = nanos('ttl' in options ? options.ttl : 0);
  if (!hasHistory && config.max_age === max_age && config.num_replicas >= replicas) return;
  const manager = await connection.jetstreamManager();
  const update = {
    ...config,
    max_age,
    max_msgs_per_subject: options.history,
    num_replicas: Math.max(config.num_replicas, replicas),
  };
  await withStorage(wanted, manager.streams.update(config.name, update));
}

const fixedStreamFields = [
  'subjects',
  'retention',
  'storage',
  'discard',
  'max_age',
] as const satisfies (keyof OurStream)[];

export async function ensureStream(
  manager: JetStreamManager,
  wanted: OurStream,
): Promise<StreamInfo> {
  const existing = await despiteRace(() => findOrAddStream(manager, wanted));
  for (const field of fixedStreamFields) {
    refuseOther(`stream ${wanted.name}`, field, existing.config[field], wanted[field]);
  }
  const { max_bytes: is, num_replicas: copies } = existing.config;
  const max_bytes = mayBecome(wanted.max_bytes, existing) ? wanted.max_bytes : is;
  // Consumers have their stream's number. A higher one is kept: somebody has chosen it.
  const num_replicas = Math.max(copies, wanted.num_replicas);
  if (max_bytes === is && num_replicas === copies) return existing;
  const update = { ...existing.config, max_bytes, num_replicas };
  return withStorage(wanted, manager.streams.update(wanted.name, update));
}

async function findOrAddStream(manager: JetStreamManager, wanted: OurStream): Promise<StreamInfo> {
  return (
    (await unlessCode(noSuchStream, manager.streams.info(wanted.name))) ??
    (await unlessCode(nameInUse, withStorage(wanted, manager.streams.add(wanted)))) ??
    (await manager.streams.info(wanted.name))
  );
}

/**
 * nats-server 2.9 may report a stream that another process is just creating as an overlap with itself (2 in 100 of four
 * concurrent creations). The stream is there once the answer comes, so a second call finds it.
 */
async function despiteRace<T>(call: () => Promise<T>): Promise<T> {
  return (await unlessCode(subjectsOverlap, call())) ?? (await call());
}

// nats-server drops the oldest messages where max_bytes falls below the stored bytes, even with `discard: new`. So a
// limit is lowered only where twice the stored bytes fit: no publish in between can reach it.
function mayBecome(maxBytes: number, stream: StreamInfo): boolean {
  return maxBytes > stream.config.max_bytes || stream.state.bytes <= maxBytes / 2;
}

async function withStorage<T>(
  wanted: Pick<OurStream, 'name' | 'max_bytes' | 'num_replicas'>,
  call: Promise<T>,
): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const code = apiErrorCode(error);
    if (code === notClustered || code === noPeers) {
      throw new Error(
        `the broker has no ${wanted.num_replicas} servers for copies of stream ${wanted.name}: ` +
          'start them, or set MILLRACE_REPLICAS',
        { cause: error },
      );
    }
    if (code !== outOfStorage) throw error;
    const room = Math.ceil(wanted.max_bytes / MiB);
    throw new Error(
      `the broker has no ${room} MiB to reserve for stream ${wanted.name}: ` +
        "allow fewer bytes of events, or raise the broker's max_file_store",
      { cause: error },
    );
  }
}

export async function ensureConsumer(
  manager: JetStreamManager,
  stream: string,
  wanted: typeof writerConfig,
): Promise<void> {
  const existing =
    (await unlessCode(noSuchConsumer, manager.consumers.info(stream, wanted.durable_name))) ??
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

/** Undefined where the call fails with this code of JetStream. */
export async function unlessCode<T>(code: number, call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (apiErrorCode(error) === code) return undefined;
    throw error;
  }
}
