// How long an accepted event waits until it is counted: beside every figure, always.

import { useEffect, useState } from 'preact/hooks';
import { milliseconds } from '../ui/figures.ts';
import { type LiveFeed, openFeed } from './live-feed.ts';

export function LagBadge({ projectId }: { projectId: string }) {
  const [feed, setFeed] = useState<LiveFeed>();
  useEffect(() => {
    const opened = openFeed(projectId);
    setFeed(opened.feed);
    return opened.end;
  }, [projectId]);
  const lag = feed?.totals.value?.lag;
  const isLive = feed?.isLive.value ?? false;
  const lagMs = lag ? Number(lag.seconds) * 1000 + lag.nanos / 1e6 : 0;
  const state = !isLive ? 'away' : lagMs > 10_000 ? 'behind' : 'live';
  const text =
    state === 'away' ? 'Not live' : lagMs < 1 ? 'All counted' : `${milliseconds(lagMs)} behind`;
  return (
    <span
      class="lag"
      data-state={state}
      title="The age of the oldest accepted event that is not counted yet"
    >
      {text}
    </span>
  );
}
