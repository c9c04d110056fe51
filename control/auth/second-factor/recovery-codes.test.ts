// Recovery codes, as they are shown and typed.

import { expect, it } from 'vitest';
import { newRecoveryCodes, recoveryHash } from './recovery-codes.ts';

it('are ten, all different, and read alike in capitals and groups', () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) {
    expect(code).toMatch(/^([2-9a-hj-km-np-z]{4}-){3}[2-9a-hj-km-np-z]{4}$/);
    expect(recoveryHash(code)).toMatch(/^[0-9a-f]{64}$/);
    expect(recoveryHash(` ${code.toUpperCase().replaceAll('-', ' ')} `)).toBe(recoveryHash(code));
  }
  for (const text of ['', '123456', 'abcd-efgh', `${codes[0]}a`, 'a'.repeat(1_024)]) {
    expect(recoveryHash(text)).toBeUndefined();
  }
});
