// OperatorService.GetHealth: the whole instance at one moment. What does not answer is left out, because a page about
// faults must come while there are some.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '../../platform/clock.ts';
import type { Readiness } from '../../platform/http/readiness.ts';
import { zones } from '../../platform/zones/zones.ts';
import {
  type GetHealthResponse,
  GetHealthResponseSchema,
  type Process,
  ProcessSchema,
} from '../../proto/gen/dashboard/operator/v1/operator_pb.js';

/** A stream of the broker. */
export interface QueueFacts {
  messages: number;
  bytes: number;
  maxBytes: number;
  /** When the oldest message came; undefined where there is none. */
  oldestMs: number | undefined;
}

/** A stream and the servers that hold it; none while it has no leader. */
export interface StreamFacts {
  stream: string;
  peers: readonly { name: string; isLeader: boolean; isOffline: boolean; behind: number }[];
}

export interface HealthOptions {
  /** By name whether a part can serve. */
  readiness(): Promise<Readiness>;
  shards: number;
  queue(shard: number, kind: 'events' | 'profiles'): Promise<QueueFacts>;
  buckets(): { name: string; usedRatio: number; isScarce: boolean }[];
  /** None where the broker is one server. */
  streams(): StreamFacts[];
  disk(): { freeBytes: number; reserveBytes: number; isScarce: boolean };
  /** In Prometheus' text format: of this process, or of all with the label `process`. */
  metricsText(): Promise<string>;
  clock: Clock;
}

export async function getHealth(options: HealthOptions): Promise<GetHealthResponse> {
  const { clock } = options;
  const shards = Array.from({ length: options.shards }, (_, shard) => shard);
  const [readiness, queues, text] = await Promise.all([
    options.readiness(),
    Promise.all(
      shards.map(async (shard) => ({
        shard,
        events: await options.queue(shard, 'events').catch(() => undefined),
        profiles: await options.queue(shard, 'profiles').catch(() => undefined),
      })),
    ),
    options.metricsText().catch(() => ''),
  ]);
  const nowMs = clock.nowMs();
  const disk = options.disk();
  const { used: version, package: packageVersion, node: nodeVersion } = zones.versions;
  const buckets = options.buckets().sort((a, b) => (a.name < b.name ? -1 : 1));
  return create(GetHealthResponseSchema, {
    time: timestampFromMs(nowMs),
    parts: Object.entries(readiness).map(([name, ready]) => ({ name, ready: ready !== false })),
    shards: queues.map(({ shard, events, profiles }) => ({
      shard,
      ...(events && { events: queueOf(events, nowMs) }),
      ...(profiles && { profiles: queueOf(profiles, nowMs) }),
    })),
    buckets: buckets.map(({ name, usedRatio, isScarce }) => ({
      name,
      usedRatio,
      scarce: isScarce,
    })),
    disk: {
      freeBytes: BigInt(disk.freeBytes),
      reserveBytes: BigInt(disk.reserveBytes),
      scarce: disk.isScarce,
    },
    processes: processesIn(text),
    timeZones: { version, packageVersion, nodeVersion },
    streams: options.streams().map(streamOf),
  });
}

function streamOf({ stream, peers }: StreamFacts) {
  return {
    name: stream,
    leader: peers.find(({ isLeader }) => isLeader)?.name ?? '',
    followers: peers
      .filter(({ isLeader }) => !isLeader)
      .map(({ name, isOffline, behind }) => ({ name, offline: isOffline, behind: BigInt(behind) })),
  };
}

function queueOf({ messages, bytes, maxBytes, oldestMs }: QueueFacts, nowMs: number) {
  return {
    messages: BigInt(messages),
    bytes: BigInt(bytes),
    maxBytes: BigInt(maxBytes),
    lagMs: BigInt(Math.max(0, Math.round(nowMs - (oldestMs ?? nowMs)))),
  };
}

const processMetric =
  /^process_(resident_memory_bytes|cpu_seconds_total|start_time_seconds)(?:\{process="([^"]*)"\})? (\S+)$/gm;

/** Metrics without the label `process` are of the only process. */
function processesIn(text: string): Process[] {
  const byName = new Map<string, Process>();
  for (const [, metric, name = 'main', number] of text.matchAll(processMetric)) {
    const process = byName.get(name) ?? create(ProcessSchema, { name });
    byName.set(name, process);
    const value = Number(number);
    if (metric === 'resident_memory_bytes') process.memoryBytes = BigInt(Math.round(value));
    else if (metric === 'cpu_seconds_total') process.cpuSeconds = value;
    else process.startTime = timestampFromMs(Math.round(value * 1_000));
  }
  return [...byName.values()];
}
