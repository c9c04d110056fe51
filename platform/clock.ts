// The one place that asks what time it is. Everything that depends on time takes a Clock, so that tests set it.

export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };
