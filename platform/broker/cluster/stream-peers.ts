// Whether the streams of the broker take messages now: each has a leader, and most of its servers follow. A connection
// that is well says nothing of it, because any server of a cluster answers there.

import type { ReadinessCheck } from '../../http/readiness.ts';
import { webhookStreams } from '../../webhooks/webhook-streams.ts';
import { buckets } from '../buckets.ts';
import type { JetStreamManager, NatsConnection, StreamInfo } from '../nats.ts';
import { deadLetterStream, eventsStream, profilesStream } from '../streams.ts';
import { leaderInfo } from './leader-info.ts';

/** One server's copy of a stream. */
export interface StreamPeer {
  name: string;
  isLeader: boolean;
  /** The leader has not heard of it for some seconds. */
  isOffline: boolean;
  /** It holds all that was acknowledged. */
  isCurrent: boolean;
  /** Entries of the stream's log that it does not hold yet. */
  behind: number;
}

/** A part of readiness, and the streams that it needs: it does not work where one of them takes no messages. */
export interface StreamPart {
  part: string;
  streams: readonly string[];
}

// Within the time that readiness gives a check.
const askTimeoutMs = 1_500;
/** Peers are heard of every second. nats-server's own leaders take ten seconds to notice that they lead nobody. */
const silentNs = 4_000_000_000;

export function streamParts(shards: number): StreamPart[] {
  const ofShards = Array.from({ length: shards }, (_, shard) => ({
    part: `shard-${shard}`,
    streams: [eventsStream(shard), profilesStream(shard)],
  }));
  return [
    ...ofShards,
    { part: 'records', streams: Object.values(buckets).map((name) => `KV_${name}`) },
    { part: 'dead-letters', streams: [deadLetterStream] },
    { part: 'deliveries', streams: webhookStreams },
  ];
}

/** A check for each part: it holds where each of the part's streams can take a message. */
export function streamChecks(connection: NatsConnection, shards: number): ReadinessCheck[] {
  return streamParts(shards).map(({ part, streams }) => ({
    name: part,
    async check() {
      const manager = await openPeerManager(connection);
      const infos = await Promise.all(streams.map((stream) => leaderInfo(manager, stream)));
      return infos.every((info) => hasMajority(peersOf(info)));
    },
  }));
}

export function openPeerManager(connection: NatsConnection): Promise<JetStreamManager> {
  return connection.jetstreamManager({ checkAPI: false, timeout: askTimeoutMs });
}

/** The servers that hold a stream, the leader first; none where the broker is one server. */
export function peersOf({ cluster }: StreamInfo): StreamPeer[] {
  if (cluster === undefined) return [];
  const leader = { isLeader: true, isOffline: false, isCurrent: true, behind: 0 };
  const followers = (cluster.replicas ?? []).map(({ name, current, offline, active, lag }) => ({
    name,
    isLeader: false,
    isOffline: offline === true || active > silentNs,
    isCurrent: current,
    behind: lag ?? 0,
  }));
  return [{ name: cluster.leader ?? '', ...leader }, ...followers];
}

export function hasMajority(peers: readonly StreamPeer[]): boolean {
  const heard = peers.filter(({ isOffline }) => !isOffline).length;
  return peers.length === 0 || heard > peers.length / 2;
}
