// The servers that hold each stream and bucket, asked again and again for the operator: who leads, who is offline, who
// is behind. Only of a broker of several servers. Whether a stream takes messages is stream-peers.ts's.

import type { Metrics } from '../../metrics.ts';
import type { NatsConnection } from '../nats.ts';
import { isClustered } from './leader-info.ts';
import { openPeerManager, peersOf, type StreamPeer, streamParts } from './stream-peers.ts';

const askEveryMs = 5_000;

/** A stream without a leader has no peers: nobody knows them. */
export interface KnownStream {
  stream: string;
  peers: readonly StreamPeer[];
}

export interface PeerGauges {
  /** As last asked; empty where the broker is one server. */
  known(): KnownStream[];
  close(): void;
}

interface PeerGaugesOptions {
  connection: NatsConnection;
  shards: number;
  metrics: Metrics;
}

/** Asks at once and every few seconds until it is closed. */
export function openPeerGauges(options: PeerGaugesOptions): PeerGauges {
  const { connection, metrics } = options;
  const streams = streamParts(options.shards).flatMap((part) => part.streams);
  const gauge = (name: string, help: string) => metrics.gauge(name, help, ['stream']);
  const leaders = gauge('millrace_stream_leader_servers', '1 where a stream has a leader, else 0.');
  const offline = gauge(
    'millrace_stream_offline_servers',
    'Servers of a stream that its leader does not hear of.',
  );
  const behind = gauge(
    'millrace_stream_behind_entries',
    'Entries of its log that the slowest server of a stream does not hold yet.',
  );
  const peersByStream = new Map<string, readonly StreamPeer[]>();
  const ask = async (stream: string): Promise<void> => {
    const manager = await openPeerManager(connection);
    const info = await manager.streams.info(stream).catch(() => undefined);
    const peers = info?.cluster?.leader ? peersOf(info) : [];
    peersByStream.set(stream, peers);
    leaders.set({ stream }, peers.length > 0 ? 1 : 0);
    offline.set({ stream }, peers.filter(({ isOffline }) => isOffline).length);
    behind.set({ stream }, Math.max(0, ...peers.map((peer) => peer.behind)));
  };
  const askAll = (): void => {
    if (!isClustered(connection)) return;
    // A connection that is closed answers nothing: the check of the broker tells so.
    for (const stream of streams) void ask(stream).catch(() => {});
  };
  askAll();
  const timer = setInterval(askAll, askEveryMs);
  timer.unref();
  return {
    known: () => [...peersByStream].map(([stream, peers]) => ({ stream, peers })),
    close: () => clearInterval(timer),
  };
}
