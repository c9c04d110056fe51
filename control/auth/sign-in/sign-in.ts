// AuthService.SignIn: sign-in with a password. Neither cost nor answer tells whether the address has an account.

import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { isOver } from '../../../platform/access/customer-access.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { SignInRequest } from '../../../proto/gen/public/auth/v1/auth_pb.js';
import type { CustomerRecord } from '../../customers/customer-record.ts';
import type { CustomerStore } from '../../customers/customer-store.ts';
import { emailField, requiredField } from '../../request-fields.ts';
import type { AccessTokens } from '../access-token.ts';
import { type Attempts, network, type PasswordTry } from '../attempts.ts';
import { maxPasswordCharacters, type PasswordCaller, type Passwords } from '../passwords.ts';
import type { ChallengeAnswer, SignInAnswer, SignInCustomer } from './sign-in-customer.ts';

export interface SignInDeps {
  customers: Pick<CustomerStore, 'findByEmail' | 'change'>;
  attempts: Pick<Attempts, 'password'>;
  accessTokens: Pick<AccessTokens, 'verify'>;
  passwords: Passwords;
  signInCustomer: SignInCustomer;
  addressOf: (context: HandlerContext) => string | undefined;
  clock: Clock;
}

// A character is at most two UTF-16 units.
const maxPasswordUnits = 2 * maxPasswordCharacters;

export async function signIn(
  deps: SignInDeps,
  request: SignInRequest,
  context: HandlerContext,
): Promise<SignInAnswer | ChallengeAnswer> {
  const email = emailField('email', request.email);
  const password = requiredField('password', request.password).slice(0, maxPasswordUnits + 1);
  const by = await caller(deps, email, context);
  const { right } = await deps.attempts.password(by);
  const address = deps.addressOf(context);
  const from = address === undefined ? undefined : network(address);
  const asking: PasswordCaller = { kind: by.kind, from };
  const customer = deps.customers.findByEmail(email);
  const { ok, rehash } = await deps.passwords
    .check(customer?.passwordHash, password, asking)
    .catch((error: unknown) => {
      // Nothing was tried: the queue of checks is full.
      right();
      throw error;
    });
  if (customer === undefined || !ok) throw wrong();
  right();
  const better = rehash ? await deps.passwords.hash(password, asking) : undefined;
  const checkedAtMs = deps.clock.nowMs();
  return deps.signInCustomer(await withPassword(deps, customer, better), checkedAtMs);
}

/** An access token of the customer tells the owner from whoever else tries passwords for the address. */
async function caller(
  { customers, accessTokens, addressOf }: SignInDeps,
  email: string,
  context: HandlerContext,
): Promise<PasswordTry> {
  const header = context.requestHeader.get('authorization') ?? '';
  const [, token] = /^bearer +(\S+) *$/i.exec(header) ?? [];
  const session = token === undefined ? undefined : await accessTokens.verify(token);
  const owner = customers.findByEmail(email);
  const isOwners = session !== undefined && owner !== undefined && session.customerId === owner.id;
  if (isOwners && !isOver(session, owner)) {
    return { kind: 'session', sessionId: session.sessionId };
  }
  return { kind: 'stranger', address: addressOf(context), email };
}

/**
 * The newest record, with the better hash if there is one. Throws if the customer has another password by now: checks
 * wait in a queue, and a password that was ended meanwhile must let nobody in.
 */
async function withPassword(
  { customers }: Pick<SignInDeps, 'customers'>,
  checked: CustomerRecord,
  better: string | undefined,
): Promise<CustomerRecord> {
  const newest = await customers.change(checked.id, (record) => {
    if (record.passwordHash !== checked.passwordHash) throw wrong();
    return better === undefined ? record : { ...record, passwordHash: better };
  });
  if (newest === undefined) throw wrong();
  return newest;
}

function wrong(): ConnectError {
  return new ConnectError('the e-mail address or the password is wrong', Code.Unauthenticated);
}
