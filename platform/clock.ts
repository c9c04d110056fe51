// The only place that asks for the time. Everything that depends on time takes a Clock, so that tests can set it.

export const minuteMs = 60_000;
export const hourMs = 3_600_000;
/** A day of UTC, which counts no leap seconds. */
export const dayMs = 86_400_000;

/** A UTC day, counted from the epoch, as 2026-01-31. */
export function utcDateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Milliseconds since this process began: goes on evenly whatever becomes of the clock on the wall. */
export const steadyClock: Clock = { nowMs: () => performance.now() };
