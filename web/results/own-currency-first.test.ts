import { expect, it } from 'vitest';
import { ownCurrencyFirst } from './own-currency-first.ts';

it('the project’s currency comes first, and the others stay in their order', () => {
  const series = [{ currency: 'USD' }, {}, { currency: 'EUR' }, { currency: 'CHF' }];
  const names = (own: string) => ownCurrencyFirst(series, own).map(({ currency }) => currency);
  expect(names('EUR')).toEqual(['EUR', 'USD', undefined, 'CHF']);
  for (const own of ['', 'SEK']) expect(ownCurrencyFirst(series, own)).toBe(series);
});
