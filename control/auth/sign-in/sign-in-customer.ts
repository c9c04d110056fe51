// The last step of every sign-in method: starts a session for the customer and makes the answer with its tokens, or
// answers a challenge where the customer has a second factor. Proving who the customer is comes before, in each
// method's own file.

import type { Clock } from '../../../platform/clock.ts';
import type { Customer } from '../../../proto/gen/dashboard/customers/v1/customer_pb.js';
import { type CustomerRecord, customerMessage } from '../../customers/customer-record.ts';
import { type AccessTokens, accessTokenSeconds } from '../access-token.ts';
import type { Challenges } from '../second-factor/challenge.ts';
import type { Sessions, StartedSession } from '../session.ts';

/** The fields that AuthService's answers with a session share. */
export interface SignInAnswer {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
  customer: Customer;
}

/** No session yet: SignInWithSecondFactor takes the challenge. */
export interface ChallengeAnswer {
  challenge: { token: string; expiresIn: number };
}

/**
 * `checkedAtMs` is a time before `customer` was read: an end of all sessions that comes after it ends the new one too,
 * as when the owner proves the address while a stranger's password is being checked. By default now.
 */
export type SignInCustomer = (
  customer: CustomerRecord,
  checkedAtMs?: number,
) => Promise<SignInAnswer | ChallengeAnswer>;

/** Every sign-in goes through it but those of whoever has no second factor, or has just shown it. */
export function createSignInCustomer({
  challenges,
  beginSession,
  clock,
}: {
  challenges: Pick<Challenges, 'issue'>;
  beginSession: BeginSession;
  clock: Clock;
}): SignInCustomer {
  return async (customer, checkedAtMs = clock.nowMs()) => {
    if (customer.secondFactor === undefined) return beginSession(customer, checkedAtMs);
    const startMs = Math.max(checkedAtMs, customer.sessionsFromMs);
    return { challenge: challenges.issue({ customerId: customer.id, startMs }) };
  };
}

/** For whoever has shown all that the account asks for; otherwise as SignInCustomer. */
export type BeginSession = (
  customer: CustomerRecord,
  checkedAtMs?: number,
) => Promise<SignInAnswer>;

/** `ensureFirstProject` makes the organization and project that the customer still lacks. */
export function createBeginSession(deps: {
  sessions: Pick<Sessions, 'start'>;
  accessTokens: Pick<AccessTokens, 'issue'>;
  ensureFirstProject: (customer: CustomerRecord) => Promise<void>;
  clock: Clock;
}): BeginSession {
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
    customer: { ...customerMessage(customer), superAdmin: customer.superAdmin },
  };
}
