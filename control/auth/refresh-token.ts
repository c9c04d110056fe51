// AuthService.RefreshToken and SignOut: a session goes on, or ends. The session's record is session.ts's.

import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type {
  RefreshTokenRequest,
  SignOutRequest,
} from '../../proto/gen/public/auth/v1/auth_pb.js';
import type { CustomerStore } from '../customers/customer-store.ts';
import { requiredField } from '../request-fields.ts';
import type { AccessTokens } from './access-token.ts';
import type { Attempts } from './attempts.ts';
import type { Sessions } from './session.ts';
import { clearSessionCookie, cookieToken, wantsCookie } from './session-cookie.ts';
import { type SignInAnswer, signInAnswer } from './sign-in/sign-in-customer.ts';

export interface RefreshDeps {
  sessions: Pick<Sessions, 'rotate' | 'end'>;
  customers: Pick<CustomerStore, 'get'>;
  accessTokens: Pick<AccessTokens, 'issue'>;
  attempts: Pick<Attempts, 'redeem'>;
  publicUrl: () => string;
  addressOf: (context: HandlerContext) => string | undefined;
}

export async function refreshToken(
  deps: RefreshDeps,
  request: RefreshTokenRequest,
  context: HandlerContext,
): Promise<SignInAnswer> {
  const token = request.refreshToken || cookieToken(context, deps.publicUrl());
  // A page cannot see whether it has a cookie: without one its session is over.
  if (token === '' && wantsCookie(context)) throw over();
  requiredField('refreshToken', token);
  deps.attempts.redeem(deps.addressOf(context));
  const session = await deps.sessions.rotate(token);
  if (session === undefined) throw over();
  const customer = deps.customers.get(session.customerId);
  if (customer === undefined || session.createTimeMs < customer.sessionsFromMs) {
    await deps.sessions.end(session.refreshToken);
    throw over();
  }
  return signInAnswer(deps.accessTokens, customer, session);
}

export async function signOut(
  deps: Pick<RefreshDeps, 'sessions' | 'attempts' | 'publicUrl' | 'addressOf'>,
  request: SignOutRequest,
  context: HandlerContext,
): Promise<Record<string, never>> {
  deps.attempts.redeem(deps.addressOf(context));
  await deps.sessions.end(request.refreshToken || cookieToken(context, deps.publicUrl()));
  clearSessionCookie(context);
  return {};
}

function over(): ConnectError {
  return new ConnectError('the session is over: sign in', Code.Unauthenticated);
}
