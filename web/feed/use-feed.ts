// The live feed of a project, open while a component is.

import { useEffect, useState } from 'preact/hooks';
import { type LiveFeed, openFeed } from './live-feed.ts';

/** undefined in the first render. */
export function useFeed(projectId: string): LiveFeed | undefined {
  const [feed, setFeed] = useState<LiveFeed>();
  useEffect(() => {
    const opened = openFeed(projectId);
    setFeed(opened.feed);
    return opened.end;
  }, [projectId]);
  return feed;
}
