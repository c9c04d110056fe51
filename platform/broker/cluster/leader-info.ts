// A stream as its leader tells it. In a cluster there are moments without a leader, or with one that has not applied
// its log yet: then the answers look like those of a stream that has lost messages.

import type { JetStreamManager, NatsConnection, StreamInfo } from '../nats.ts';

/** A leader may be young for half a minute: until then, ask again so often and so many times before you believe it. */
export const youngPauseMs = 500;
export const youngAsks = 60;

/** Whether the broker is more than one server, so that its streams have leaders that change. */
export function isClustered(connection: Pick<NatsConnection, 'info'>): boolean {
  return connection.info?.cluster !== undefined;
}

/**
 * How long what needs the broker may fail before it counts: a stream whose leader has ended or hangs has another one by
 * then, as a rule within ten seconds.
 */
export function leaderGraceMs(connection: Pick<NatsConnection, 'info'>): number {
  return isClustered(connection) ? youngAsks * youngPauseMs : 0;
}

/** A stream that was just made, or whose leader has ended, has another one in a moment. */
export class NoLeaderError extends Error {
  constructor(stream: string) {
    super(`the stream ${stream} has no leader`);
  }
}

/**
 * The stream's info. Throws NoLeaderError where the stream has none: a server answers all the same, as far as it has
 * applied the stream's log. What a leader says may still be old for a moment.
 */
export async function leaderInfo(manager: JetStreamManager, stream: string): Promise<StreamInfo> {
  const info = await manager.streams.info(stream);
  if (info.cluster !== undefined && !info.cluster.leader) {
    throw new NoLeaderError(stream);
  }
  return info;
}
