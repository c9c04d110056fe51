// Says that something is on its way, to the reader and to whoever takes what the page shows away.

import { useToldWaiting } from '../exports/shown-tables.ts';

/**
 * Lines in the place of what is on its way; `of` says what that is to a screen reader. It shows itself after a moment
 * only, so that a quick answer does not flicker.
 */
export function Loading({ of }: { of: string }) {
  useToldWaiting();
  return (
    <div class="loading" role="status">
      <span class="unseen">Loading {of}…</span>
      <i />
      <i />
      <i />
    </div>
  );
}
