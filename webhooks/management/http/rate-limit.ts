// Limits how often a key or a customer, and an organization's together, call methods: changes like changes of accounts,
// reads like reads. What only takes away is not limited. Counts live in this process.

import { createTokenBuckets } from '../../../platform/access/token-bucket.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Caller, Rate } from './operation.ts';
import { exhausted } from './refusals.ts';

export interface RateLimits {
  /** Changes by one caller: this many at once, then one more per second. */
  changesPerCaller: number;
  /** Changes in one organization: this many at once, then two more per second. */
  changesPerOrganization: number;
  /** 0: no limit. */
  readsPerSecond: number;
}

export const changeLimits = { changesPerCaller: 120, changesPerOrganization: 240 };

/** Throws resource_exhausted, with the time after which it passes. */
export type TakeRate = (rate: Rate, caller: Caller) => void;

export function createRateLimit(limits: RateLimits, clock: Clock): TakeRate {
  const { changesPerCaller, changesPerOrganization, readsPerSecond } = limits;
  const byCaller = createTokenBuckets({ perSecond: 1, burst: changesPerCaller, clock });
  const byOrganization = createTokenBuckets({
    perSecond: 2,
    burst: changesPerOrganization,
    clock,
  });
  const burst = Math.max(1, readsPerSecond);
  const reads = createTokenBuckets({ perSecond: readsPerSecond, burst, clock });
  return (rate, { id, organizationId }) => {
    switch (rate) {
      case 'free':
        return;
      case 'read':
        refuseFor(reads.take(id, 1), 'too many reads, try again later');
        return;
      case 'change':
        refuseFor(byCaller.take(id, 1), 'too many changes, try again later');
        refuseFor(byOrganization.take(organizationId, 1), 'too many changes, try again later');
        return;
      default:
        rate satisfies never;
    }
  };
}

function refuseFor(waitSeconds: number, message: string): void {
  if (waitSeconds > 0) throw exhausted(message, waitSeconds);
}
