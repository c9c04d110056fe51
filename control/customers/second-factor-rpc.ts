// CustomersService's methods of a second factor: a customer sets up an app of one-time codes, gets recovery codes, and
// takes the factor away. Checking codes is ../auth/second-factor's.

import { randomBytes } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Clock } from '../../platform/clock.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import {
  type ConfirmSecondFactorRequest,
  type RemoveSecondFactorRequest,
  type RenewRecoveryCodesRequest,
  type SecondFactor,
  SecondFactorSchema,
  type StartSecondFactorRequest,
} from '../../proto/gen/dashboard/customers/v1/customers_pb.js';
import type { Attempts } from '../auth/attempts.ts';
import type { Passwords } from '../auth/passwords.ts';
import {
  base32,
  otpauthUri,
  secretBytes,
  stepOfCode,
} from '../auth/second-factor/one-time-codes.ts';
import { newRecoveryCodes, recoveryHash } from '../auth/second-factor/recovery-codes.ts';
import {
  openSecret,
  type SecondFactors,
  secondFactorPurpose,
} from '../auth/second-factor/second-factors.ts';
import type { TellOfSecondFactor } from '../mail/tell-of-second-factor.ts';
import { nowText, timestampOf } from '../record-times.ts';
import { invalidArgument, requiredField } from '../request-fields.ts';
import type { SignedInCustomer, SignedInSession } from '../signed-in-customer.ts';
import type { CustomerRecord } from './customer-record.ts';
import { noSuchCustomer, requirePresentPassword, sessionOver } from './customer-rpc.ts';
import type { CustomerStore } from './customer-store.ts';
import { refuseUnproven } from './proven-customer.ts';

export interface SecondFactorDeps {
  customers: Pick<CustomerStore, 'get' | 'change'>;
  secondFactors: SecondFactors;
  passwords: Passwords;
  attempts: Pick<Attempts, 'password' | 'code'>;
  box: SecretBox;
  tellOfSecondFactor: TellOfSecondFactor;
  clock: Clock;
}

const startedSeconds = 900;

export function getSecondFactor(
  { customers }: Pick<SecondFactorDeps, 'customers'>,
  { customerId }: SignedInCustomer,
): { secondFactor?: SecondFactor } {
  const factor = customers.get(customerId)?.secondFactor;
  if (factor === undefined) return {};
  return {
    secondFactor: create(SecondFactorSchema, {
      createTime: timestampOf(factor.createTime),
      recoveryCodesLeft: factor.recoveryHashes.length,
    }),
  };
}

export async function startSecondFactor(
  deps: SecondFactorDeps,
  request: StartSecondFactorRequest,
  signedIn: SignedInSession,
): Promise<{ secret: string; uri: string; expiresIn: number }> {
  const { customers, box, clock } = deps;
  const { customerId } = signedIn;
  refuseUnproven(customers, signedIn);
  const known = customers.get(customerId);
  if (known === undefined) throw noSuchCustomer();
  if (known.secondFactor !== undefined) await useCode(deps, request.code, signedIn);
  else if (known.passwordHash !== undefined) {
    await requirePresentPassword(deps, known.passwordHash, request.currentPassword, signedIn);
  }
  const secret = randomBytes(secretBytes);
  const sealedSecret = box.seal(secret.toString('base64'), secondFactorPurpose(customerId));
  const expireTimeMs = clock.nowMs() + startedSeconds * 1_000;
  await customers.change(customerId, (record) => {
    // While the password's check waited in its queue all sessions may have ended, this one too.
    if (record.sessionsFromMs !== known.sessionsFromMs) throw sessionOver();
    return { ...record, startedSecondFactor: { sealedSecret, expireTimeMs } };
  });
  return {
    ...{ secret: base32(secret), uri: otpauthUri(secret, known.email) },
    expiresIn: startedSeconds,
  };
}

export async function confirmSecondFactor(
  deps: SecondFactorDeps,
  request: ConfirmSecondFactorRequest,
  signedIn: SignedInSession,
): Promise<{ recoveryCodes: string[] }> {
  const code = requiredField('code', request.code).replaceAll(/\s/g, '');
  const { right } = deps.attempts.code({ kind: 'session', sessionId: signedIn.sessionId });
  const recoveryCodes = newRecoveryCodes();
  const record = await deps.customers.change(signedIn.customerId, (before) => {
    const { startedSecondFactor, ...rest } = before;
    const lastStep = confirmedStep(deps, before, code);
    const { sealedSecret = '' } = startedSecondFactor ?? {};
    const recoveryHashes = hashesOf(recoveryCodes);
    const createTime = nowText(deps.clock);
    return { ...rest, secondFactor: { sealedSecret, createTime, lastStep, recoveryHashes } };
  });
  if (record === undefined) throw noSuchCustomer();
  right();
  deps.tellOfSecondFactor(record, { kind: 'set up' });
  return { recoveryCodes };
}

/** Throws failed_precondition where nothing was begun, and invalid_argument for a wrong code. */
function confirmedStep(
  { box, clock }: Pick<SecondFactorDeps, 'box' | 'clock'>,
  { id, startedSecondFactor: started }: CustomerRecord,
  code: string,
): number {
  const nowMs = clock.nowMs();
  const isGood = started !== undefined && nowMs < started.expireTimeMs;
  const secret = isGood ? openSecret(box, id, started.sealedSecret) : undefined;
  if (secret === undefined) {
    throw new ConnectError(
      'no second factor was begun in the last 15 minutes: begin again',
      Code.FailedPrecondition,
    );
  }
  const step = stepOfCode(secret, code, { nowMs });
  if (step === undefined) throw invalidArgument('code', 'is not what the app shows now');
  return step;
}

export async function renewRecoveryCodes(
  deps: SecondFactorDeps,
  request: RenewRecoveryCodesRequest,
  signedIn: SignedInSession,
): Promise<{ recoveryCodes: string[] }> {
  const recoveryCodes = newRecoveryCodes();
  const recoveryHashes = hashesOf(recoveryCodes);
  const record = await useCode(deps, request.code, signedIn, ({ secondFactor, ...rest }) => ({
    ...rest,
    ...(secondFactor !== undefined && { secondFactor: { ...secondFactor, recoveryHashes } }),
  }));
  deps.tellOfSecondFactor(record, { kind: 'recovery codes renewed' });
  return { recoveryCodes };
}

export async function removeSecondFactor(
  deps: SecondFactorDeps,
  request: RemoveSecondFactorRequest,
  signedIn: SignedInSession,
): Promise<Record<string, never>> {
  const record = await useCode(deps, request.code, signedIn, withoutSecondFactor);
  deps.tellOfSecondFactor(record, { kind: 'taken away' });
  return {};
}

export function withoutSecondFactor(record: CustomerRecord): CustomerRecord {
  const { secondFactor: _factor, startedSecondFactor: _started, ...rest } = record;
  return rest;
}

/** Throws failed_precondition where there is no second factor, and invalid_argument for a wrong code. */
async function useCode(
  { customers, secondFactors }: Pick<SecondFactorDeps, 'customers' | 'secondFactors'>,
  text: string,
  { customerId, sessionId }: SignedInSession,
  also?: (record: CustomerRecord) => CustomerRecord,
): Promise<CustomerRecord> {
  const code = requiredField('code', text);
  if (customers.get(customerId)?.secondFactor === undefined) {
    throw new ConnectError('the account has no second factor', Code.FailedPrecondition);
  }
  const by = { kind: 'session', sessionId } as const;
  const record = await secondFactors.use(customerId, code, by, also);
  if (record === 'wrong') throw invalidArgument('code', 'is wrong, or was used');
  return record;
}

function hashesOf(codes: readonly string[]): string[] {
  return codes.flatMap((code) => recoveryHash(code) ?? []);
}
