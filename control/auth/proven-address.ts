// Finds or makes the customer of an e-mail address that a person has just proved to be theirs, by a link in a mail or a
// provider's word. What the first proof ends is ../customers/proven-customer.ts's.

import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { CustomerRecord } from '../customers/customer-record.ts';
import type { CustomerStore } from '../customers/customer-store.ts';
import type { ProveCustomer } from '../customers/proven-customer.ts';
import { byInvitation, type MayJoin } from './sign-in/may-join.ts';
import { nameFor } from './sign-in/sign-up.ts';

interface ProvenBy {
  /** The person's name at the provider. */
  displayName?: string;
  identity?: { issuer: string; subject: string };
}

/** Makes the customer if the address has none, and may have one. */
export type ProvenAddress = (
  email: string,
  context: HandlerContext,
  by?: ProvenBy,
) => Promise<CustomerRecord>;

export function createProvenAddress(deps: {
  customers: Pick<CustomerStore, 'findByEmail' | 'create' | 'addIdentity'>;
  proveCustomer: ProveCustomer;
  mayJoin: MayJoin;
}): ProvenAddress {
  const { customers, proveCustomer, mayJoin } = deps;
  return async (email, context, by = {}) => {
    const known = customers.findByEmail(email);
    if (known === undefined) {
      if (!mayJoin(email, context)) throw byInvitation();
      const made = await customers.create({
        email,
        emailVerified: true,
        displayName: nameFor(by.displayName ?? '', email),
        ...(by.identity !== undefined && { identity: by.identity }),
      });
      if (made !== 'taken') return made.record;
      throw new ConnectError('the account is being made: try again', Code.Aborted);
    }
    const proven = await proveCustomer(known.id);
    // After the proof: an account at a provider signs in without one.
    if (by.identity !== undefined && !(await customers.addIdentity(known.id, by.identity))) {
      throw new ConnectError(
        'the account at the provider belongs to somebody else here',
        Code.FailedPrecondition,
      );
    }
    return proven;
  };
}
