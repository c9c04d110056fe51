// The methods of people's own accounts, each with the function that answers it: signing up, in and out, and the account
// itself. routes.ts says how a new one is added.

import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import { customerOf } from '../platform/access/auth-interceptor.ts';
import { CustomersService } from '../proto/gen/dashboard/customers/v1/customers_pb.js';
import { AuthService } from '../proto/gen/public/auth/v1/auth_pb.js';
import { type RefreshDeps, refreshToken, signOut } from './auth/refresh-token.ts';
import { clearSessionCookie, withSessionCookie } from './auth/session-cookie.ts';
import { type SignInDeps, signIn } from './auth/sign-in/sign-in.ts';
import { type MagicLinkDeps, signInWithMagicLink } from './auth/sign-in/sign-in-with-magic-link.ts';
import { type OAuthDeps, signInWithOAuth, startOAuth } from './auth/sign-in/sign-in-with-oauth.ts';
import {
  type SecondStepDeps,
  signInWithSecondFactor,
} from './auth/sign-in/sign-in-with-second-factor.ts';
import { type SignUpDeps, signUp } from './auth/sign-in/sign-up.ts';
import {
  type CustomerDeps,
  getCustomer,
  listCustomers,
  updateCustomer,
} from './customers/customer-rpc.ts';
import {
  confirmSecondFactor,
  getSecondFactor,
  removeSecondFactor,
  renewRecoveryCodes,
  type SecondFactorDeps,
  startSecondFactor,
} from './customers/second-factor-rpc.ts';
import { type AccountDeletionDeps, deleteAccount } from './deletions/delete-account.ts';
import { type OpenDemoDeps, openDemo } from './demo/open-demo.ts';

export type AccountDeps = SignUpDeps &
  SignInDeps &
  MagicLinkDeps &
  OAuthDeps &
  SecondStepDeps &
  RefreshDeps &
  OpenDemoDeps &
  CustomerDeps &
  SecondFactorDeps &
  AccountDeletionDeps;

/** Registers AuthService and CustomersService. */
export function registerAccounts(router: ConnectRouter, deps: AccountDeps): void {
  router.service(AuthService, {
    signUp: inSession((request, context) => signUp(deps, request, context)),
    signIn: inSession((request, context) => signIn(deps, request, context)),
    signInWithMagicLink: inSession((request, context) =>
      signInWithMagicLink(deps, request, context),
    ),
    listOAuthProviders: () => ({ providers: [...deps.providers.keys()] }),
    startOAuth: (request, context) => startOAuth(deps, request, context),
    signInWithOAuth: inSession((request, context) => signInWithOAuth(deps, request, context)),
    signInWithSecondFactor: inSession((request, context) =>
      signInWithSecondFactor(deps, request, context),
    ),
    openDemo: inSession((request, context) => openDemo(deps, request, context)),
    refreshToken: inSession((request, context) => refreshToken(deps, request, context)),
    signOut: (request, context) => signOut(deps, request, context),
  });
  router.service(CustomersService, {
    list: (request, context) => listCustomers(deps, request, customerOf(context)),
    get: (request, context) => getCustomer(deps, request, customerOf(context)),
    update: (request, context) => updateCustomer(deps, request, customerOf(context)),
    getSecondFactor: (_, context) => getSecondFactor(deps, customerOf(context)),
    startSecondFactor: (request, context) => startSecondFactor(deps, request, customerOf(context)),
    confirmSecondFactor: (request, context) =>
      confirmSecondFactor(deps, request, customerOf(context)),
    renewRecoveryCodes: (request, context) =>
      renewRecoveryCodes(deps, request, customerOf(context)),
    removeSecondFactor: (request, context) =>
      removeSecondFactor(deps, request, customerOf(context)),
    delete: async (request, context) => {
      const answer = await deleteAccount(deps, request, customerOf(context));
      clearSessionCookie(context);
      return answer;
    },
  });
}

/** For methods that answer a refresh token: a browser gets it as a cookie. */
function inSession<I, A extends object>(
  method: (request: I, context: HandlerContext) => Promise<A & { refreshToken?: string }>,
): (request: I, context: HandlerContext) => Promise<A> {
  return async (request, context) => withSessionCookie(await method(request, context), context);
}
