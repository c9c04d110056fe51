// AuthService.SignIn: sign-in with a password. Neither cost nor answer tells whether the address has an account.

import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { SignInRequest } from '../../../proto/gen/public/auth/v1/auth_pb.js';
import type { CustomerStore } from '../../customers/customer-store.ts';
import { emailField, requiredField } from '../../request-fields.ts';
import type { Attempts } from '../attempts.ts';
import { maxPasswordCharacters, type Passwords } from '../passwords.ts';
import type { SignInAnswer, SignInCustomer } from './sign-in-customer.ts';

export interface SignInDeps {
  customers: Pick<CustomerStore, 'findByEmail' | 'change'>;
  attempts: Pick<Attempts, 'signIn'>;
  passwords: Passwords;
  signInCustomer: SignInCustomer;
  addressOf: (context: HandlerContext) => string | undefined;
}

// A character is at most two UTF-16 units.
const maxPasswordUnits = 2 * maxPasswordCharacters;

export async function signIn(
  deps: SignInDeps,
  request: SignInRequest,
  context: HandlerContext,
): Promise<SignInAnswer> {
  const email = emailField('email', request.email);
  const password = requiredField('password', request.password).slice(0, maxPasswordUnits + 1);
  deps.attempts.signIn(deps.addressOf(context), email);
  const customer = deps.customers.findByEmail(email);
  const { ok, rehash } = await deps.passwords.check(customer?.passwordHash, password);
  if (customer === undefined || !ok) {
    throw new ConnectError('the e-mail address or the password is wrong', Code.Unauthenticated);
  }
  if (rehash) {
    const passwordHash = await deps.passwords.hash(password);
    await deps.customers.change(customer.id, (record) =>
      record.passwordHash === customer.passwordHash ? { ...record, passwordHash } : record,
    );
  }
  return deps.signInCustomer(customer);
}
