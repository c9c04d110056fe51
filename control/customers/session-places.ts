// Where a customer's sessions are noted: in the customer's record, which every process watches.

import type { Clock } from '../../platform/clock.ts';
import { signedTokenLifetimeMs } from '../auth/access-token.ts';
import type { EndAccess, SessionPlaces } from '../auth/session.ts';
import { withoutSession, withSession } from './customer-record.ts';
import type { CustomerStore } from './customer-store.ts';

/** The customer's record names their sessions: the bucket finds a session by its own id only. */
export function createSessionPlaces(
  customers: Pick<CustomerStore, 'get' | 'change'>,
  clock: Clock,
): SessionPlaces {
  return {
    endAccess: createEndAccess(customers, clock),
    async take(customerId, sessionId) {
      let displaced: readonly string[] = [];
      await customers.change(customerId, (before) => {
        const next = withSession(before, sessionId);
        displaced = next.displaced;
        return next.record;
      });
      return displaced;
    },
    taken: (customerId) => customers.get(customerId)?.sessionIds ?? [],
  };
}

/** The customer's record says which sessions ended: every process watches it. */
function createEndAccess(customers: Pick<CustomerStore, 'change'>, clock: Clock): EndAccess {
  return async (customerId, sessionId) => {
    const nowMs = clock.nowMs();
    const untilMs = nowMs + signedTokenLifetimeMs;
    await customers.change(customerId, (record) =>
      withoutSession(record, sessionId, { nowMs, untilMs }),
    );
  };
}
