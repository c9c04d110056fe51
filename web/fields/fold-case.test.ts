// What a field or a search box finds in texts of another case: what the service finds.

import { expect, it } from 'vitest';
import { foldCase } from './fold-case.ts';

it.each([
  ['istanbul', 'İstanbul'],
  ['İSTANBUL', 'istanbul'],
  ['strasse', 'Straße'],
  ['STRAß', 'Strasse'],
  ['fin', 'ﬁne'],
  ['δυσ', 'ὈΔΥΣΣΕΎΣ'],
  ['ύσ', 'ὀδυσσεύς'],
  ['$PATH', '$pathname'],
])('%s is found in %s', (part, text) => {
  expect(foldCase(text).includes(foldCase(part))).toBe(true);
});

it('letters with accents are letters of their own', () => {
  expect(foldCase('Crème').includes(foldCase('creme'))).toBe(false);
});
