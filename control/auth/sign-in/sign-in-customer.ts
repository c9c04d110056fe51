// The last step of every sign-in method: starts a session for the customer and makes the answer with its tokens.
// Proving who the customer is comes before, in each method's own file.

import type { Clock } from '../../../platform/clock.ts';
import type { Customer } from '../../../proto/gen/dashboard/customers/v1/customers_pb.js';
import { type CustomerRecord, customerMessage } from '../../customers/customer-record.ts';
import { type AccessTokens, accessTokenSeconds } from '../access-token.ts';
import type { Sessions, StartedSession } from '../session.ts';

/** The fields that AuthService's answers with a session share. */
export interface SignInAnswer {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
  customer: Customer;
}

/**
 * `checkedAtMs` is a time before `customer` was read: an end of all sessions that comes after it ends the new one too,
 * as when the owner proves the address while a stranger's password is being checked. By default now.
 */
export type SignInCustomer = (
  customer: CustomerRecord,
  checkedAtMs?: number,
) => Promise<SignInAnswer>;

/** `ensureFirstProject` makes the organization and project that the customer still lacks. */
export function createSignInCustomer(deps: {
  sessions: Pick<Sessions, 'start'>;
  accessTokens: Pick<AccessTokens, 'issue'>;
  ensureFirstProject: (customer: CustomerRecord) => Promise<void>;
  clock: Clock;
}): SignInCustomer {
  return async (customer, checkedAtMs = deps.clock.nowMs()) => {
    await deps.ensureFirstProject(customer);
    const startMs = Math.max(checkedAtMs, customer.sessionsFromMs);
    const session = await deps.sessions.start(customer.id, startMs);
    return signInAnswer(deps.accessTokens, customer, session);
  };
}

export async function signInAnswer(
  accessTokens: Pick<AccessTokens, 'issue'>,
  customer: CustomerRecord,
  session: StartedSession,
): Promise<SignInAnswer> {
  return {
    accessToken: await accessTokens.issue(customer.id, session),
    refreshToken: session.refreshToken,
    expiresIn: accessTokenSeconds,
    customer: customerMessage(customer),
  };
}
