// The parts behind live views, one of each for a process: made by the composition, closed before its port.

import type { NatsConnection } from '../../platform/broker/nats.ts';
import type { Clock } from '../../platform/clock.ts';
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
  close(): Promise<void>;
}

/** Begins to hear of refusals. */
export function openLiveViews({ nats, ...options }: LiveViewsOptions): LiveViews {
  const feed = new LiveFeed(options);
  const refusals = new RefusalLog(nats, options.clock);
  return {
    feed,
    refusals,
    async close() {
      refusals.close();
      await feed.close();
    },
  };
}
