// Labels of buckets, as the service writes them: the date and time on the clock of a zone, with its distance from UTC,
// such as 2026-11-01T00:00:00-07:00. The browser's own rules of zones may be older than the service's.

/** The date and time that a label shows, as if it were UTC. */
export function shownMs(label: string): number {
  return Date.parse(`${label.slice(0, 19)}Z`);
}

/** The calendar's day that a label shows, 2026-11-01. */
export function labelDay(label: string): string {
  return label.slice(0, 10);
}

/** What the clock shows at a moment, as if it were UTC, by the labels of buckets around it, ascending. */
export function clockOf(labels: readonly string[]): (ms: number) => number {
  const changes: { fromMs: number; offsetMs: number }[] = [];
  for (const label of labels) {
    const fromMs = Date.parse(label);
    const offsetMs = shownMs(label) - fromMs;
    if (changes.at(-1)?.offsetMs !== offsetMs) changes.push({ fromMs, offsetMs });
  }
  return (ms) => {
    const last = changes.findLast(({ fromMs }) => fromMs <= ms) ?? changes[0];
    return ms + (last?.offsetMs ?? 0);
  };
}
