// Says that the figures below are those of the question before, while the new ones are on their way.

import type { ComponentChildren } from 'preact';

/** Beside a heading, after a moment only, so that a quick answer does not flicker. Its room is kept. */
export function Updating({ isOn, children }: { isOn: boolean; children: ComponentChildren }) {
  return (
    <div class="row">
      {children}
      <span class="updating" role="status">
        {isOn ? <span>Updating…</span> : null}
      </span>
    </div>
  );
}
