// AuthService.SignInWithSecondFactor: the second step of a sign-in. The first one's answer is sign-in-customer.ts's.

import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { SignInWithSecondFactorRequest } from '../../../proto/gen/public/auth/v1/auth_pb.js';
import type { CustomerStore } from '../../customers/customer-store.ts';
import type { TellOfSecondFactor } from '../../mail/tell-of-second-factor.ts';
import { requiredField } from '../../request-fields.ts';
import type { Attempts } from '../attempts.ts';
import type { Challenges } from '../second-factor/challenge.ts';
import type { SecondFactors } from '../second-factor/second-factors.ts';
import type { BeginSession, SignInAnswer } from './sign-in-customer.ts';

export interface SecondStepDeps {
  challenges: Pick<Challenges, 'open'>;
  customers: Pick<CustomerStore, 'get'>;
  secondFactors: SecondFactors;
  attempts: Pick<Attempts, 'redeem'>;
  beginSession: BeginSession;
  tellOfSecondFactor: TellOfSecondFactor;
  addressOf: (context: HandlerContext) => string | undefined;
}

export async function signInWithSecondFactor(
  deps: SecondStepDeps,
  request: SignInWithSecondFactorRequest,
  context: HandlerContext,
): Promise<SignInAnswer> {
  const token = requiredField('challengeToken', request.challengeToken);
  const code = requiredField('code', request.code);
  const address = deps.addressOf(context);
  deps.attempts.redeem(address);
  const first = deps.challenges.open(token);
  const before = first && deps.customers.get(first.customerId);
  if (first === undefined || before?.secondFactor === undefined) throw over();
  const { customerId, startMs } = first;
  const by = { kind: 'stranger', address, customerId } as const;
  const customer = await deps.secondFactors.use(customerId, code, by, (record) => {
    // Its password was changed meanwhile, or the operator took the factor away.
    if (startMs < record.sessionsFromMs) throw over();
    return record;
  });
  if (customer === 'wrong') {
    throw new ConnectError('the code is wrong, or was used', Code.Unauthenticated);
  }
  const left = customer.secondFactor?.recoveryHashes.length ?? 0;
  if (left < before.secondFactor.recoveryHashes.length) {
    deps.tellOfSecondFactor(customer, { kind: 'recovery code used', left });
  }
  return deps.beginSession(customer, startMs);
}

function over(): ConnectError {
  return new ConnectError('the sign-in took too long: begin again', Code.Unauthenticated);
}
