// Checks codes of second factors, and counts each as used: a code of the app by its half minute, a recovery code by its
// hash. Both are written by compare-and-set before anything opens, so that of two requests with one code one passes.

import type { Clock } from '../../../platform/clock.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import type { CustomerRecord, SecondFactorRecord } from '../../customers/customer-record.ts';
import type { CustomerStore } from '../../customers/customer-store.ts';
import type { Attempts, CodeTry } from '../attempts.ts';
import { stepOfCode } from './one-time-codes.ts';
import { recoveryHash } from './recovery-codes.ts';

export interface SecondFactors {
  /**
   * The customer's record once the code is used, with `also` in the same write. `wrong` where it is none, was used, or
   * the customer has no second factor. Throws resource_exhausted after many wrong ones.
   */
  use(
    customerId: string,
    code: string,
    by: CodeTry,
    also?: (record: CustomerRecord) => CustomerRecord,
  ): Promise<CustomerRecord | 'wrong'>;
}

export function secondFactorPurpose(customerId: string): string {
  return `second factor of ${customerId}`;
}

/** The secret of an app; undefined where the instance key is gone that sealed it. */
export function openSecret(
  box: Pick<SecretBox, 'open'>,
  customerId: string,
  sealedSecret: string,
): Buffer | undefined {
  const text = box.open(sealedSecret, secondFactorPurpose(customerId));
  return text === undefined ? undefined : Buffer.from(text, 'base64');
}

export function createSecondFactors({
  customers,
  attempts,
  box,
  clock,
}: {
  customers: Pick<CustomerStore, 'change'>;
  attempts: Pick<Attempts, 'code'>;
  box: Pick<SecretBox, 'open'>;
  clock: Clock;
}): SecondFactors {
  const used = (customerId: string, factor: SecondFactorRecord, text: string) => {
    const hash = recoveryHash(text);
    if (hash !== undefined && factor.recoveryHashes.includes(hash)) {
      const recoveryHashes = factor.recoveryHashes.filter((other) => other !== hash);
      return { ...factor, recoveryHashes };
    }
    const secret = openSecret(box, customerId, factor.sealedSecret);
    const nowMs = clock.nowMs();
    const code = text.replaceAll(/\s/g, '');
    const lastStep = secret && stepOfCode(secret, code, { nowMs, afterStep: factor.lastStep });
    return lastStep === undefined ? undefined : { ...factor, lastStep };
  };
  return {
    async use(customerId, code, by, also = (record) => record) {
      const { right } = attempts.code(by);
      let isRight = false;
      const record = await customers.change(customerId, (before) => {
        const { secondFactor: factor } = before;
        const secondFactor = factor && used(customerId, factor, code);
        isRight = secondFactor !== undefined;
        return secondFactor === undefined ? before : also({ ...before, secondFactor });
      });
      if (record === undefined || !isRight) return 'wrong';
      right();
      return record;
    },
  };
}
