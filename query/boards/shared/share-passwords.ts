// The passwords of shares: how many wrong ones a network may try, and that a right one is checked once, however many
// people of an office open the share at once. The check of a password takes a tenth of a second of a core; who checks
// it is control's.

import { createHmac, randomBytes } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import { createTokenBuckets } from '../../../platform/access/token-bucket.ts';
import type { Clock } from '../../../platform/clock.ts';
import { setBounded } from '../../../platform/memory/bounded-map.ts';

/** Throws where too many passwords are being checked. `from`: where the caller is, so that nobody takes all places. */
export type CheckPassword = (
  stored: string,
  password: string,
  from: string | undefined,
) => Promise<boolean>;

interface PasswordDeps {
  checkPassword: CheckPassword;
  clock: Clock;
}

/** A protected share and its caller. */
interface Attempt {
  shareId: string;
  /** The hash of the share's password. */
  stored: string;
  password: string;
  /** The network of the caller's address. */
  from: string | undefined;
}

/** Wrong passwords from one network for one share: this many at once, then one more per half a minute. */
const wrongPasswords = 10;
const secondsForOneMore = 30;
const tooMany = 'too many attempts, try again later';
/** A right password is not checked again for so long. */
const keepRightMs = 60_000;
const maxRight = 10_000;
/** A password has at most 128 characters, each of two UTF-16 units at most. */
const maxPasswordUnits = 256;

/**
 * Returns a function that tells whether the password is right; it throws resource_exhausted after too many wrong ones,
 * and what `checkPassword` throws.
 */
export function createSharePasswords({
  checkPassword,
  clock,
}: PasswordDeps): (attempt: Attempt) => Promise<boolean> {
  const tries = createTokenBuckets({
    perSecond: 1 / secondsForOneMore,
    burst: wrongPasswords,
    clock,
  });
  // Passwords are remembered by a hash under a key that never leaves this process.
  const key = randomBytes(32);
  const nameOf = (stored: string, password: string): string =>
    createHmac('sha256', key).update(`${stored} ${password}`).digest('base64');
  /** When each right password was checked. */
  const right = new Map<string, number>();
  const underWay = new Map<string, Promise<boolean>>();

  const tryOnce = async (name: string, attempt: Attempt): Promise<boolean> => {
    const { stored, password, from } = attempt;
    const pair = pairOf(attempt);
    refuseAfter(tries.take(pair, 1), tooMany);
    const isRight = await checkPassword(stored, password, from).catch((error: unknown) => {
      // Nothing was tried.
      tries.give(pair);
      throw error;
    });
    if (!isRight) return false;
    tries.give(pair);
    right.delete(name);
    setBounded(right, name, clock.nowMs(), maxRight);
    return true;
  };

  return async (attempt) => {
    // Of right ones too: else who guesses would go on until one is among those that were just right.
    refuseAfter(tries.wait(pairOf(attempt), 1), tooMany);
    const password = attempt.password.slice(0, maxPasswordUnits + 1);
    const name = nameOf(attempt.stored, password);
    const rightAtMs = right.get(name);
    if (rightAtMs !== undefined && clock.nowMs() - rightAtMs < keepRightMs) return true;
    // The same guess from elsewhere tells nobody more than the first one did.
    const running = underWay.get(name);
    if (running !== undefined) return running;
    const checked = tryOnce(name, { ...attempt, password }).finally(() => underWay.delete(name));
    underWay.set(name, checked);
    return checked;
  };
}

function pairOf({ shareId, from }: Attempt): string {
  return `${shareId} ${from ?? ''}`;
}

/** `waitSeconds`: what a token bucket says; 0 passes. */
export function refuseAfter(waitSeconds: number, message: string): void {
  if (waitSeconds === 0) return;
  const retryAfter = { 'retry-after': String(waitSeconds) };
  throw new ConnectError(message, Code.ResourceExhausted, retryAfter);
}
