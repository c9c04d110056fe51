// When a failed delivery is tried again: after one of five delays, what Retry-After does to it, and jitter. Waiting is
// tier-worker.ts's.

import { type RetryTier, retryTiers } from '../../../platform/webhooks/webhook-streams.ts';

export const maxAttempts = 1 + retryTiers.length;

export interface PlannedRetry {
  tier: RetryTier;
  /** Ms since the epoch. */
  dueTimeMs: number;
  /** Ms from the end of the attempt. */
  waitMs: number;
}

interface FailedAttempt {
  /** From 1. */
  attempt: number;
  endTimeMs: number;
  /** What the receiver asked for. */
  retryAfterMs: number | undefined;
  /** A random number in [0, 1). */
  draw: number;
}

const mostJitterMs = 60_000;
const mostJitterOfFirstTierMs = 5_000;

/**
 * The retry after attempt number `attempt`; undefined after the last one. A hint of the receiver moves it to the next
 * longer tier that covers it, the longest at most, because each tier must hold its messages in the order in which they
 * are due.
 */
export function planRetry(failed: FailedAttempt): PlannedRetry | undefined {
  const { attempt, endTimeMs, retryAfterMs = 0, draw } = failed;
  if (attempt >= maxAttempts) return undefined;
  const usual = retryTiers.slice(attempt - 1);
  const tier = usual.find(({ delayMs }) => delayMs >= retryAfterMs) ?? usual.at(-1);
  if (tier === undefined) return undefined;
  const waitMs = tier.delayMs + Math.floor(draw * maxJitterMs(tier.name));
  return { tier: tier.name, dueTimeMs: endTimeMs + waitMs, waitMs };
}

/** Jitter only adds, so that each delay stays the least. */
export function maxJitterMs(name: RetryTier): number {
  const [first] = retryTiers;
  if (name === first.name) return mostJitterOfFirstTierMs;
  const delayMs = retryTiers.find((tier) => tier.name === name)?.delayMs ?? 0;
  return Math.min(mostJitterMs, delayMs / 10);
}

/** Reads the header's two forms, seconds and a date; undefined where it is neither. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  // Date.parse takes much more than the three forms of HTTP, all of which name a month.
  const dateMs = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
