// The quarters of an hour of a day in three words of 32 bits, from the two columns of profile_days, which have 48 each.

import type { Quarters } from '../users/profile-days.ts';

export type QuarterWords = readonly [number, number, number];

/** A column's number in two words, the low one first. */
type Half = readonly [number, number];

export function quarterWords([low, high]: Half, [eveningLow, eveningHigh]: Half): QuarterWords {
  const [middle, last] = [high | (eveningLow << 16), (eveningLow >>> 16) | (eveningHigh << 16)];
  return [low, middle >>> 0, last >>> 0];
}

export function wordsOf({ morning, evening }: Quarters): QuarterWords {
  const half = (bits: number): Half => [bits % 2 ** 32, Math.floor(bits / 2 ** 32)];
  return quarterWords(half(morning), half(evening));
}
