// Limits how often a customer, and an organization's members together, change records. What only takes away is not
// limited: a revocation must never wait. The methods are marked in the table of access; counts live in this process.

import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { accessTable } from '../platform/access/access-table.ts';
import { customerOf } from '../platform/access/auth-interceptor.ts';
import { membershipOf } from '../platform/access/organization-interceptor.ts';
import { createTokenBuckets } from '../platform/access/token-bucket.ts';
import type { Clock } from '../platform/clock.ts';

export interface ChangeLimits {
  /** Changes by one customer: this many at once, then one more per second. */
  perCustomer: number;
  /** Changes in one organization: this many at once, then two more per second. */
  perOrganization: number;
}

/** A script that sets up a hundred projects passes; one customer alone cannot use up an organization's changes. */
export const defaultChangeLimits: ChangeLimits = { perCustomer: 120, perOrganization: 240 };

/** Must follow the interceptors that find the customer and the organization. */
export function createChangeLimit(clock: Clock, limits: ChangeLimits): Interceptor {
  const byCustomer = createTokenBuckets({ perSecond: 1, burst: limits.perCustomer, clock });
  const byOrganization = createTokenBuckets({ perSecond: 2, burst: limits.perOrganization, clock });
  return (next) => async (request) => {
    const row = accessTable.get(`${request.service.typeName}/${request.method.name}`);
    if (row?.growsRecords === true) {
      const context = { values: request.contextValues };
      refuseFor(byCustomer.take(customerOf(context).customerId, 1));
      if (row.scope !== 'nothing')
        refuseFor(byOrganization.take(membershipOf(context).organizationId, 1));
    }
    return next(request);
  };
}

function refuseFor(waitSeconds: number): void {
  if (waitSeconds === 0) return;
  throw new ConnectError('too many changes, try again later', Code.ResourceExhausted, {
    'retry-after': String(waitSeconds),
  });
}
