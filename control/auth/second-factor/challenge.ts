// The challenge between the two steps of a sign-in: who has done the first one and when, sealed by the instance key, so
// that nothing is stored for it. It opens nothing but the second step.

import type { Clock } from '../../../platform/clock.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';

/** `startMs`: an end of all sessions after this time ends the sign-in, too. */
interface FirstStep {
  customerId: string;
  startMs: number;
}

export interface Challenges {
  issue(step: FirstStep): { token: string; expiresIn: number };
  /** Undefined where the token is not one of ours or too old. */
  open(token: string): FirstStep | undefined;
}

const lifetimeSeconds = 300;
const purpose = 'first step of a sign-in';

export function createChallenges(box: Pick<SecretBox, 'seal' | 'open'>, clock: Clock): Challenges {
  return {
    issue({ customerId, startMs }) {
      const expireMs = clock.nowMs() + lifetimeSeconds * 1_000;
      const token = box.seal(JSON.stringify([customerId, startMs, expireMs]), purpose);
      return { token, expiresIn: lifetimeSeconds };
    },
    open(token) {
      const text = box.open(token, purpose);
      if (text === undefined) return undefined;
      const [customerId, startMs, expireMs]: unknown[] = JSON.parse(text);
      if (typeof customerId !== 'string' || typeof startMs !== 'number') return undefined;
      const isGood = typeof expireMs === 'number' && clock.nowMs() < expireMs;
      return isGood ? { customerId, startMs } : undefined;
    },
  };
}
