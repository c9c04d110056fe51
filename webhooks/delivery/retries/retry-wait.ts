// How long a retry still waits. Who planned it knows that by its own steady clock, which nobody sets. Another process,
// or the same one after a start, has the wall clock and the broker's stamp alone: there a clock that was set back must
// not make the wait longer than the tier's.

import { randomUUID } from 'node:crypto';
import { type Clock, steadyClock } from '../../../platform/clock.ts';
import type { Delivery } from '../../../platform/webhooks/delivery.ts';
import { type RetryTier, retryTiers } from '../../../platform/webhooks/webhook-streams.ts';
import { maxJitterMs } from './retry-plan.ts';

/** The clocks by which one process plans and waits. */
export interface RetryClocks {
  /** Names the process: steady times of another one mean nothing here. */
  processId: string;
  steady: Clock;
  wall: Clock;
}

export function retryClocks(wall: Clock, steady: Clock = steadyClock): RetryClocks {
  return { processId: randomUUID(), steady, wall };
}

/** `delivery` as it waits in a tier: due at `dueTimeMs`, which is `waitMs` from now. */
export function waiting(
  delivery: Delivery,
  dueTimeMs: number,
  waitMs: number,
  { processId, steady }: RetryClocks,
): Delivery {
  return { ...delivery, dueTimeMs, planned: { processId, dueSteadyMs: steady.nowMs() + waitMs } };
}

/** The longest that a retry of the tier waits after it was queued. */
export function longestWaitMs(name: RetryTier): number {
  const delayMs = retryTiers.find((tier) => tier.name === name)?.delayMs ?? 0;
  return delayMs + maxJitterMs(name);
}

/** Ms, at most 0 where the retry is due. `storedTimeMs`: the broker's stamp on its message. */
export function remainingWaitMs(
  { dueTimeMs, planned }: Delivery,
  storedTimeMs: number,
  tier: RetryTier,
  { processId, steady, wall }: RetryClocks,
): number {
  const longestMs = longestWaitMs(tier);
  if (planned?.processId === processId) {
    return Math.min(longestMs, planned.dueSteadyMs - steady.nowMs());
  }
  const dueMs = Math.min(dueTimeMs, storedTimeMs + longestMs);
  return Math.min(longestMs, dueMs - wall.nowMs());
}
