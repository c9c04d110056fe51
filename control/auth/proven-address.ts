// Finds or makes the customer of an e-mail address that a person has just proved to be theirs, by a link in a mail or a
// provider's word. An unproven sign-up with the address may have been a stranger's who waits for its owner: its
// password and sessions end here.

import { Code, ConnectError } from '@connectrpc/connect';
import type { Clock } from '../../platform/clock.ts';
import type { CustomerRecord } from '../customers/customer-record.ts';
import type { CustomerStore } from '../customers/customer-store.ts';
import { nameFor } from './sign-in/sign-up.ts';

interface ProvenBy {
  /** The person's name at the provider. */
  displayName?: string;
  identity?: { issuer: string; subject: string };
}

/** Makes the customer if the address has none. */
export type ProvenAddress = (email: string, by?: ProvenBy) => Promise<CustomerRecord>;

export function createProvenAddress(deps: {
  customers: Pick<CustomerStore, 'findByEmail' | 'create' | 'change' | 'addIdentity'>;
  clock: Clock;
}): ProvenAddress {
  const { customers, clock } = deps;
  return async (email, by = {}) => {
    const known = customers.findByEmail(email);
    if (known === undefined) {
      const made = await customers.create({
        email,
        emailVerified: true,
        displayName: nameFor(by.displayName ?? '', email),
        ...(by.identity !== undefined && { identity: by.identity }),
      });
      if (made !== 'taken') return made.record;
      throw new ConnectError('the account is being made: try again', Code.Aborted);
    }
    if (by.identity !== undefined && !(await customers.addIdentity(known.id, by.identity))) {
      throw new ConnectError(
        'the account at the provider belongs to somebody else here',
        Code.FailedPrecondition,
      );
    }
    const proven = await customers.change(known.id, (record) => {
      if (record.emailVerified) return record;
      const { passwordHash: _unproven, ...rest } = record;
      return { ...rest, emailVerified: true, sessionsFromMs: clock.nowMs() };
    });
    if (proven === undefined) throw new Error('a customer has no record');
    return proven;
  };
}
