// What a page asks of the screen and of the window.

import { useEffect, useState } from 'preact/hooks';

/** Whether the page is in a frame of another one: it is a shared board there, without a session and its keys. */
export const isFramed = window.parent !== window;

/** Whether a media query holds, as it changes: for what CSS cannot say, such as the columns of a table. */
export function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => window.matchMedia(query).matches);
  useEffect(() => {
    const media = window.matchMedia(query);
    const look = (): void => setHolds(media.matches);
    look();
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, [query]);
  return holds;
}

/** The width from which the shell puts its navigation into a drawer. */
export const narrow = '(max-width: 760px)';
