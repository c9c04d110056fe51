// AuthService.SignUp: makes a customer with a password and signs them in. The address stays unproven until a link or a
// provider proves it, unless nobody but this machine's users can have signed up.

import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { SignUpRequest } from '../../../proto/gen/public/auth/v1/auth_pb.js';
import type { CustomerStore } from '../../customers/customer-store.ts';
import {
  displayNameField,
  emailField,
  newPasswordField,
  optionalDisplayNameField,
} from '../../request-fields.ts';
import { type Attempts, network } from '../attempts.ts';
import type { Passwords } from '../passwords.ts';
import { byInvitation, type MayJoin } from './may-join.ts';
import type { BeginSession, SignInAnswer } from './sign-in-customer.ts';

export interface SignUpDeps {
  customers: Pick<CustomerStore, 'create' | 'findByEmail'>;
  attempts: Pick<Attempts, 'signUp'>;
  passwords: Pick<Passwords, 'hash'>;
  beginSession: BeginSession;
  addressOf: (context: HandlerContext) => string | undefined;
  onlyThisMachine: (context: HandlerContext) => boolean;
  mayJoin: MayJoin;
}

export async function signUp(
  deps: SignUpDeps,
  request: SignUpRequest,
  context: HandlerContext,
): Promise<SignInAnswer> {
  const email = emailField('email', request.email);
  const password = newPasswordField('password', request.password);
  const displayName = nameFor(request.displayName, email);
  const organizationName = optionalDisplayNameField('organizationName', request.organizationName);
  const address = deps.addressOf(context);
  const { untold } = deps.attempts.signUp(address, email);
  if (!deps.mayJoin(email, context)) {
    untold();
    throw byInvitation();
  }
  if (deps.customers.findByEmail(email) !== undefined) throw taken();
  untold();
  const passwordHash = await deps.passwords.hash(password, {
    kind: 'stranger',
    from: address === undefined ? undefined : network(address),
  });
  const made = await deps.customers.create({
    email,
    emailVerified: deps.onlyThisMachine(context),
    displayName,
    passwordHash,
    ...(organizationName !== '' && { organizationName }),
  });
  if (made === 'taken') throw taken();
  return deps.beginSession(made.record);
}

/** The given name; if empty, the part of the address before the "@". */
export function nameFor(given: string, email: string): string {
  const name = optionalDisplayNameField('displayName', given);
  return name === '' ? displayNameField('email', email.slice(0, email.lastIndexOf('@'))) : name;
}

function taken(): ConnectError {
  return new ConnectError('the address has an account: sign in', Code.AlreadyExists);
}
