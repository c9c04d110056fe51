import { expect, it } from 'vitest';
import { countryCode } from './country-names.ts';

it.each([
  ['Germany', 'DE'],
  ['germany', 'DE'],
  ['France', 'FR'],
  ['Serbia', 'RS'],
  ['Russia', 'RU'],
  ['United Kingdom', 'GB'],
  ['United States', 'US'],
  ['Türkiye', 'TR'],
  ['Turkey', 'TR'],
  ['Czechia', 'CZ'],
  ['Czech Republic', 'CZ'],
  ['South Korea', 'KR'],
  ['Vietnam', 'VN'],
  ['de', 'DE'],
  ['', undefined],
  ['(not set)', undefined],
  ['Atlantis', undefined],
  [7, undefined],
])('%s is %s', (name, code) => expect(countryCode(name)).toBe(code));
