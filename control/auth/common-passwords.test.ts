// Which passwords count as common.

import { expect, it } from 'vitest';
import { isCommonPassword } from './common-passwords.ts';

it.each([
  'password',
  'PassWord',
  'Password1!',
  'password2026',
  '12345678',
  'ｐａｓｓｗｏｒｄ',
  'Qwertzuiop',
  ' iloveyou ',
  '        ',
  '\t\t\t\t\u00a0\u2003  ',
  'aaaaaaaaaaaa',
  'AaAaAaAaA',
  '\u{1f600}'.repeat(8),
])('%j is common', (password) => {
  expect(isCommonPassword(password)).toBe(true);
});

it.each(['correct horse', 'password of mine', 'xkq29fjw', 'Grüße aus Köln', '2026-11-22T20:00'])(
  '%j is not',
  (password) => {
    expect(isCommonPassword(password)).toBe(false);
  },
);
