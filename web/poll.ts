// What a page asks for again and again while somebody looks.

import { useEffect, useRef } from 'preact/hooks';

/**
 * Calls `ask` of the newest render every `everyMs` while the page is in sight. It asks only where nothing is loading:
 * where an answer takes longer than that, a page that asked anew each time would never see one.
 */
export function usePoll(everyMs: number, ask: () => void): void {
  const newest = useRef(ask);
  newest.current = ask;
  useEffect(() => {
    const timer = window.setInterval(() => {
      if (!document.hidden) newest.current();
    }, everyMs);
    return () => window.clearInterval(timer);
  }, [everyMs]);
}
