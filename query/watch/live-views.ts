// The parts behind live views, one of each for a process: made by the composition, closed before its port.

import type { NatsConnection } from '../../platform/broker/nats.ts';
import type { Clock } from '../../platform/clock.ts';
import { hearLive } from '../../platform/live/live-messages.ts';
import { preflightSubject } from '../../platform/live/live-subjects.ts';
import { LiveFeed } from './live-feed.ts';
import { RefusalLog } from './refusal-log.ts';

interface LiveViewsOptions {
  nats: Pick<NatsConnection, 'subscribe'>;
  /** Makes another connection to the same broker. */
  connect(): Promise<NatsConnection>;
  shardOf(projectId: string): number;
  clock: Clock;
}

export interface LiveViews {
  feed: LiveFeed;
  refusals: RefusalLog;
  /** When a preflight of any page was last heard of; undefined where none was since the process started. */
  preflightMs(): number | undefined;
  close(): Promise<void>;
}

/** Begins to hear of refusals and preflights. */
export function openLiveViews({ nats, ...options }: LiveViewsOptions): LiveViews {
  const feed = new LiveFeed(options);
  const refusals = new RefusalLog(nats, options.clock);
  let preflightMs: number | undefined;
  const closePreflights = hearLive(nats, preflightSubject, () => {
    preflightMs = options.clock.nowMs();
  });
  return {
    feed,
    refusals,
    preflightMs: () => preflightMs,
    async close() {
      closePreflights();
      refusals.close();
      await feed.close();
    },
  };
}
