// Everything that the broker holds for us, and the number of shards, which is fixed at the first start. Names and
// configurations are in streams.ts and buckets.ts; what flows through them is not known here.

import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { webhookStreamConfigs, webhookStreams } from '../webhooks/webhook-streams.ts';
import { buckets } from './buckets.ts';
import { isClustered, youngAsks, youngPauseMs } from './cluster/leader-info.ts';
import { noSuchStream } from './connection/error-codes.ts';
import { ensureBucket, ensureConsumer, ensureStream, unlessCode } from './ensure-stream.ts';
import { openInstance, readInstance } from './instance.ts';
import { apiErrorCode, isLate, type JetStreamManager, type NatsConnection } from './nats.ts';
import { openBucket } from './record-bucket.ts';
import {
  deadLetterConfig,
  deadLetterStream,
  eventsConfig,
  eventsStream,
  lesserBytes,
  profilesConfig,
  profilesStream,
  writerConfig,
} from './streams.ts';

interface TopologyOptions {
  /** Bytes that all events streams together may hold. */
  eventsMaxBytes: number;
  shards: number;
  /** Servers that hold each stream and bucket, 1 unless given; an existing one is raised, never lowered. */
  replicas?: number;
}

interface Topology {
  /** A random id, made at the first start: a different one means that the broker's data has been exchanged. */
  instanceId: string;
  /** The limit in force for each events stream: above `eventsMaxBytes` where lowering it could drop stored messages. */
  maxBytesPerShard: number;
}

/**
 * Makes missing streams, consumers and buckets, and brings existing ones up to date. Safe to call again, and from
 * several processes at once. Throws one sentence where the broker has no JetStream or too little storage, where
 * `shards` is not the number of the first start, where a stream or consumer has a configuration that cannot become
 * ours, and where a stream or bucket of an earlier start is gone.
 */
export async function ensureTopology(
  connection: NatsConnection,
  options: TopologyOptions,
): Promise<Topology> {
  const replicas = options.replicas ?? 1;
  const manager = await openManager(connection);
  // A single server knows all its streams once it answers.
  const asks = isClustered(connection) ? youngAsks : 1;
  await knowing(asks, () => ensureBucket(connection, buckets.instance, replicas));
  const bucket = await openBucket(connection, buckets.instance, readInstance);
  const instance = await openInstance(bucket, options.shards);
  const refuseLost = async (name: string): Promise<void> => {
    if (!instance.record.made.includes(name) || (await isFound(manager, name, asks))) return;
    throw new Error(
      `the broker has lost the stream ${name} that it held before: start its servers that are down, ` +
        'raise its max_file_store, or restore its data; ' +
        `to start anew without that data, delete the bucket ${buckets.instance}`,
    );
  };
  for (const name of Object.values(buckets)) {
    await refuseLost(`KV_${name}`);
    await knowing(asks, () => ensureBucket(connection, name, replicas));
  }
  const perShard = Math.floor(options.eventsMaxBytes / options.shards);
  let maxBytesPerShard = perShard;
  for (let shard = 0; shard < options.shards; shard++) {
    for (const config of [eventsConfig, profilesConfig]) {
      const wanted = config(shard, perShard, replicas);
      await refuseLost(wanted.name);
      const stream = await knowing(asks, () => ensureStream(manager, wanted));
      if (config === eventsConfig) {
        maxBytesPerShard = Math.max(maxBytesPerShard, stream.config.max_bytes);
      }
      await knowing(asks, () => ensureConsumer(manager, wanted.name, writerConfig));
    }
  }
  await refuseLost(deadLetterStream);
  const letters = deadLetterConfig(options.eventsMaxBytes, replicas);
  await knowing(asks, () => ensureStream(manager, letters));
  for (const wanted of webhookStreamConfigs(lesserBytes(options.eventsMaxBytes), replicas)) {
    await refuseLost(wanted.name);
    await knowing(asks, () => ensureStream(manager, wanted));
  }
  await instance.recordMade(everyStream(options.shards));
  return { instanceId: instance.record.instanceId, maxBytesPerShard };
}

/** The shard of a project: fixed for ever by its id and the number of shards. */
export function shardOf(projectId: string, shards: number): number {
  return shards === 1 ? 0 : crc32(projectId) % shards;
}

async function openManager(connection: NatsConnection): Promise<JetStreamManager> {
  try {
    return await connection.jetstreamManager();
  } catch (error) {
    if (isLate(error)) throw error;
    throw new Error('the broker runs without JetStream: start nats-server with -js', {
      cause: error,
    });
  }
}

function everyStream(shards: number): string[] {
  const kept = Object.values(buckets).map((name) => `KV_${name}`);
  const queues = [eventsStream, profilesStream].flatMap((name) =>
    Array.from({ length: shards }, (_, shard) => name(shard)),
  );
  return [...kept, ...queues, deadLetterStream, ...webhookStreams];
}

/**
 * Takes a step that may be repeated once more where a server of the cluster does not know a stream that another one has
 * just made, found or changed.
 */
async function knowing<T>(asks: number, step: () => Promise<T>): Promise<T> {
  for (let left = asks; ; left--) {
    try {
      return await step();
    } catch (error) {
      if (left <= 1 || apiErrorCode(error) !== noSuchStream) throw error;
    }
    await delay(youngPauseMs);
  }
}

// A broker that starts with too small a max_file_store leaves streams out without a word. Making the stream again
// with a smaller limit would drop the messages in its files. A cluster's new leader knows no stream until it
// has applied its log.
async function isFound(manager: JetStreamManager, name: string, asks: number): Promise<boolean> {
  for (let left = asks; left > 0; left--) {
    if (await unlessCode(noSuchStream, manager.streams.info(name))) return true;
    if (left > 1) await delay(youngPauseMs);
  }
  return false;
}
