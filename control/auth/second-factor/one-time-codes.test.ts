// Codes against the vectors of RFC 6238, appendix B, of whose eight digits ours are the last six.

import { expect, it } from 'vitest';
import { base32, codeNow, otpauthUri, stepOfCode } from './one-time-codes.ts';

const secret = Buffer.from('12345678901234567890');

it.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('at %d seconds the code is %s', (seconds, code) => {
  expect(codeNow(secret, seconds * 1_000)).toBe(code);
});

it('counts in its half minute, one before and one after, and later than the last that was used', () => {
  const nowMs = 1_111_111_111_000;
  const step = Math.floor(nowMs / 30_000);
  const of = (aroundMs: number, afterStep?: number) =>
    stepOfCode(secret, codeNow(secret, nowMs + aroundMs), {
      nowMs,
      ...(afterStep !== undefined && { afterStep }),
    });
  expect([-60_000, -30_000, 0, 30_000, 60_000].map((aroundMs) => of(aroundMs))).toEqual([
    undefined,
    ...[step - 1, step, step + 1],
    undefined,
  ]);
  expect([-30_000, 0, 30_000].map((aroundMs) => of(aroundMs, step))).toEqual([
    undefined,
    undefined,
    step + 1,
  ]);
});

it.each(['', '28708', '2870822', '28708a', ' 287082', '２８７０８２'])('%j is no code', (text) => {
  expect(stepOfCode(secret, text, { nowMs: 59_000 })).toBeUndefined();
});

it.each([
  ['', ''],
  ['f', 'MY'],
  ['foobar', 'MZXW6YTBOI'],
  ['12345678901234567890', 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'],
])('%j is %j in base 32, as in RFC 4648', (bytes, text) => {
  expect(base32(Buffer.from(bytes))).toBe(text);
});

it('tells apps whose it is', () => {
  expect(otpauthUri(secret, 'a b@example.com')).toBe(
    'otpauth://totp/Millrace:a%20b%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' +
      '&issuer=Millrace&algorithm=SHA1&digits=6&period=30',
  );
});
