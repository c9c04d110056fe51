// How a user's lifetime value reads, in the list, on the user's page and in a file.

import { figure } from '../../../platform/words/figures.ts';
import type { ProfileWorth } from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { sumText } from './payments.ts';

/** "30.50 EUR", "1,200 USD", "and in 3 more" currencies: a text each; none where nothing was paid. */
export function valueTexts(worth: ProfileWorth): string[] {
  const { lifetimeValue, hasTooManyPayments, moreCurrencies = 0 } = worth;
  // The service adds up so many of a user.
  if (hasTooManyPayments) return ['More than 5,000 payments'];
  const more = moreCurrencies > 0 ? [`and in ${figure(moreCurrencies)} more`] : [];
  return [...lifetimeValue.map(sumText), ...more];
}

/**
 * The same for other programs: exact, without separators, the currency first. A text that begins with a minus is
 * guarded in CSV as a formula: a sum of no currency is the last, and a number where it is alone.
 */
export function plainValue(worth: ProfileWorth | undefined): string {
  if (!worth) return '';
  if (worth.hasTooManyPayments) return valueTexts(worth).join('');
  const sums = worth.lifetimeValue.toSorted((a, b) => Number(!a.currency) - Number(!b.currency));
  return sums
    .map(({ amount, currency }) => [currency, amount].filter(Boolean).join(' '))
    .join('; ');
}
