// How long an accepted event waits until it is counted: beside every figure, always.

import { useFeed } from '../feed/use-feed.ts';
import { lagOf } from './lag.ts';

export function LagBadge({ projectId }: { projectId: string }) {
  const feed = useFeed(projectId);
  const { state, text } = lagOf(feed?.totals.value, feed?.isLive.value ?? false);
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
