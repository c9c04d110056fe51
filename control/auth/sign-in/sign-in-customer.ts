// The last step of every sign-in method: starts a session for the customer and makes the answer with its tokens.
// Proving who the customer is comes before, in each method's own file.

import type { Customer } from '../../../proto/gen/dashboard/customers/v1/customers_pb.js';
import { type CustomerRecord, customerMessage } from '../../customers/customer-record.ts';
import { type AccessTokens, accessTokenSeconds } from '../access-token.ts';
import type { Sessions } from '../session.ts';

/** The fields that AuthService's answers with a session share. */
export interface SignInAnswer {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
  customer: Customer;
}

export type SignInCustomer = (customer: CustomerRecord) => Promise<SignInAnswer>;

/** `ensureFirstProject` makes the organization and project that the customer still lacks. */
export function createSignInCustomer(deps: {
  sessions: Pick<Sessions, 'start'>;
  accessTokens: Pick<AccessTokens, 'issue'>;
  ensureFirstProject: (customer: CustomerRecord) => Promise<void>;
}): SignInCustomer {
  return async (customer) => {
    await deps.ensureFirstProject(customer);
    const { sessionId, refreshToken } = await deps.sessions.start(customer.id);
    return signInAnswer(deps.accessTokens, customer, sessionId, refreshToken);
  };
}

export async function signInAnswer(
  accessTokens: Pick<AccessTokens, 'issue'>,
  customer: CustomerRecord,
  sessionId: string,
  refreshToken: string,
): Promise<SignInAnswer> {
  return {
    accessToken: await accessTokens.issue(customer.id, sessionId),
    refreshToken,
    expiresIn: accessTokenSeconds,
    customer: customerMessage(customer),
  };
}
