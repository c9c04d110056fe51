/** Says what is on its way. It shows itself after a moment only, so that a quick answer does not flicker. */
export function Loading({ of }: { of: string }) {
  return (
    <p class="loading" role="status">
      Loading {of}…
    </p>
  );
}
