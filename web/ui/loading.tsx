// Says that something is on its way, to the reader and to whoever takes what the page shows away.

import { useToldWaiting } from '../exports/shown-tables.ts';

/** Says what is on its way. It shows itself after a moment only, so that a quick answer does not flicker. */
export function Loading({ of }: { of: string }) {
  useToldWaiting();
  return (
    <p class="loading" role="status">
      Loading {of}…
    </p>
  );
}
