// The projects that fill their shard's queue, as the pipeline says again and again (crowding.<shard>): their senders
// are told to slow down, and their requests share no frame with those of others, who would wait with them.

import type { NatsConnection } from '../../platform/broker/nats.ts';
import { hearLive } from '../../platform/live/live-messages.ts';
import { allCrowding } from '../../platform/live/live-subjects.ts';
import { setBounded } from '../../platform/memory/bounded-map.ts';
import { readCrowding } from '../../proto/wire/live/crowding-message.ts';

/** Four times the interval of pipeline/consume/turns/tell-crowding.ts: one lost message ends nothing. */
const slowMs = 1_000;
/** Whoever filled the queue lately may do so again as soon as it may send. */
const apartMs = 60_000;
const maxProjects = 10_000;

export interface CrowdingProjects {
  /** Whether the project's senders are to slow down now. `mark` is projectMark's. */
  isSlowed(mark: number): boolean;
  /** Whether the project's requests have frames of their own. */
  isApart(mark: number): boolean;
  close(): void;
}

/** `nowMs` is of a clock that never goes back. */
export function hearCrowdingProjects(
  connection: Pick<NatsConnection, 'subscribe'>,
  nowMs: () => number = () => performance.now(),
): CrowdingProjects {
  /** When each project was named last. */
  const toldMs = new Map<number, number>();
  const close = hearLive(connection, allCrowding, (content) => {
    for (const mark of readCrowding(content)) {
      toldMs.delete(mark);
      setBounded(toldMs, mark, nowMs(), maxProjects);
    }
  });
  const isWithin = (mark: number, keptMs: number): boolean => {
    const told = toldMs.get(mark);
    return told !== undefined && nowMs() - told <= keptMs;
  };
  return {
    isSlowed: (mark) => isWithin(mark, slowMs),
    isApart: (mark) => isWithin(mark, apartMs),
    close,
  };
}
