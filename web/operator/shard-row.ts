// A shard's cells. A queue that the service could not read is not an empty one.

import { bytes, figure, milliseconds } from '../../platform/words/figures.ts';
import type { Queue, Shard } from '../../proto/gen/dashboard/operator/v1/operator_pb.js';

const unknown = '–';

export type ShardRow = { waiting: string; size: string; oldest: string; identityCalls: string };

export function shardRow({ events, profiles }: Shard): ShardRow {
  return {
    waiting: messagesOf(events),
    size: events
      ? `${bytes(Number(events.bytes ?? 0n))} of ${bytes(Number(events.maxBytes ?? 0n))}`
      : unknown,
    oldest: events ? milliseconds(Number(events.lagMs ?? 0n)) : unknown,
    identityCalls: messagesOf(profiles),
  };
}

function messagesOf(queue: Queue | undefined): string {
  return queue ? figure(queue.messages ?? 0n) : unknown;
}
