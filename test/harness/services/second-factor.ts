// A customer's app of one-time codes, as tests have it.

import { codeNow } from '../../../control/auth/second-factor/one-time-codes.ts';
import { type AccountsProcess, bearer } from './accounts.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code that an app shows at the moment, by the secret in base 32 that it was given. */
export function appCode(secret: string, nowMs: number): string {
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0'));
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  return codeNow(
    Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 2)),
    nowMs,
  );
}

/** Sets a second factor up for a customer whose password is that of newCustomer; the code at `nowMs` is used then. */
export async function setUpSecondFactor(
  accounts: Pick<AccountsProcess, 'as'>,
  session: { accessToken: string },
  nowMs: number,
  currentPassword = 'correct horse',
): Promise<{ secret: string; recoveryCodes: string[] }> {
  const { customers } = accounts.as(bearer(session));
  const { secret } = await customers.startSecondFactor({ currentPassword });
  const code = appCode(secret, nowMs);
  const { recoveryCodes } = await customers.confirmSecondFactor({ code });
  return { secret, recoveryCodes };
}
