// Tells whose first sign-up or sign-in makes an account: anybody's, those of invited addresses, or nobody's. The
// setting MILLRACE_SIGNUP says so; without it the instance is open where only its own machine reaches it. The
// operator's command makes accounts in every case.

import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { OrganizationDirectory } from '../../../platform/access/organizations.ts';
import type { AccountSettings } from '../../../platform/account-settings.ts';
import type { Clock } from '../../../platform/clock.ts';

/** `email` has no account, or it does not matter: whoever asks must not let the answer tell. */
export type MayJoin = (email: string, context: HandlerContext) => boolean;

export function createMayJoin(deps: {
  settings: Pick<AccountSettings, 'signUp'>;
  onlyThisMachine: (context: HandlerContext) => boolean;
  directory: Pick<OrganizationDirectory, 'isInvited'>;
  clock: Clock;
}): MayJoin {
  const { settings, onlyThisMachine, directory, clock } = deps;
  return (email, context) => {
    const signUp = settings.signUp ?? (onlyThisMachine(context) ? 'open' : 'invited');
    switch (signUp) {
      case 'open':
        return true;
      case 'invited':
        return directory.isInvited(email, clock.nowMs());
      case 'closed':
        return false;
      default:
        return signUp satisfies never;
    }
  };
}

/** The same for an address without an invitation, with and without an account. */
export function byInvitation(): ConnectError {
  return new ConnectError(
    'a new account needs an invitation to its address, or the operator makes it',
    Code.PermissionDenied,
  );
}
