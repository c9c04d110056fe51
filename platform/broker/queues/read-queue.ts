// What a shard's queue of events or profiles holds now, for the operator's page.

import type { NatsConnection } from '../nats.ts';
import { eventsStream, profilesStream } from '../streams.ts';

export async function readQueue(nats: NatsConnection, shard: number, kind: 'events' | 'profiles') {
  const manager = await nats.jetstreamManager({ checkAPI: false });
  const name = kind === 'events' ? eventsStream(shard) : profilesStream(shard);
  const { state, config } = await manager.streams.info(name);
  const oldestMs = state.messages === 0 ? undefined : Date.parse(state.first_ts);
  return { ...state, maxBytes: config.max_bytes, oldestMs };
}
