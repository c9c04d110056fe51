// Says that the figures below are those of the question before, while the new ones are on their way.

/** It shows itself after a moment only, so that a quick answer does not flicker. Its room is kept. */
export function Updating({ isOn }: { isOn: boolean }) {
  return (
    <span class="updating" role="status">
      {isOn ? <span>Updating…</span> : null}
    </span>
  );
}
