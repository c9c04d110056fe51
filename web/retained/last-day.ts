// Which events go when a project keeps its events for fewer days: as the service counts days (days of UTC).

const dayMs = 86_400_000;

/** The last day of events that go, 2026-10-20; undefined where none goes. 0 days: for ever. */
export function lastDayThatGoes(before: number, after: number, nowMs: number): string | undefined {
  const isLess = after >= 1 && (before === 0 || after < before);
  if (!isLess || !Number.isInteger(after)) return undefined;
  const today = Math.floor(nowMs / dayMs);
  return new Date((today - after - 1) * dayMs).toISOString().slice(0, 10);
}
