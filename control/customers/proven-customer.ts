// An account whose address nobody has proved to read may be a stranger's, who waits for the owner. Until the first
// proof it hands out no key that reads and lets nobody in, and the proof ends its password and sessions. Who has proved
// an address is ../auth/proven-address.ts's and ../orgs/accept-invite.ts's.

import { Code, ConnectError } from '@connectrpc/connect';
import type { Clock } from '../../platform/clock.ts';
import type { SignedInCustomer } from '../signed-in-customer.ts';
import { type CustomerRecord, withoutSessions } from './customer-record.ts';
import type { CustomerStore } from './customer-store.ts';
import type { EndUnprovenGrants } from './unproven-grants.ts';

/** Throws failed_precondition for a caller whose address is not proven. */
export function refuseUnproven(
  customers: Pick<CustomerStore, 'get'>,
  { customerId }: SignedInCustomer,
): void {
  if (customers.get(customerId)?.emailVerified !== true) throw unproven();
}

export function unproven(): ConnectError {
  return new ConnectError(
    'your e-mail address is not proven yet: sign in once by a link sent to it, or by a provider',
    Code.FailedPrecondition,
  );
}

/** Notes that a person has proved to read the customer's address. Every proof but the first changes nothing. */
export type ProveCustomer = (customerId: string) => Promise<CustomerRecord>;

export function createProveCustomer(deps: {
  customers: Pick<CustomerStore, 'change'>;
  endUnprovenGrants: EndUnprovenGrants;
  clock: Clock;
}): ProveCustomer {
  const { customers, endUnprovenGrants, clock } = deps;
  const change = async (id: string, decide: (record: CustomerRecord) => CustomerRecord) => {
    const record = await customers.change(id, decide);
    if (record === undefined) throw new Error('a customer has no record');
    return record;
  };
  const closed = (record: CustomerRecord): CustomerRecord => {
    const { passwordHash: _unproven, ...rest } = withoutSessions(record, clock.nowMs());
    return rest;
  };
  return async (customerId) => {
    // First of all: a session that goes on would give out again what is being taken back.
    const before = await change(customerId, (record) =>
      record.emailVerified ? record : closed(record),
    );
    if (before.emailVerified) return before;
    // Before the mark: after a crash between the two, the next proof is the first one again.
    await endUnprovenGrants(customerId);
    return change(customerId, (record) =>
      record.emailVerified ? record : { ...closed(record), emailVerified: true },
    );
  };
}
