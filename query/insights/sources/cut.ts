// Cuts a range into the whole units of time that a table of sums knows, and the parts of one at its ends, which rows of
// events have to answer.

import { dayMs } from '../../../platform/clock.ts';
import type { Range } from '../read/plan-notes.ts';

export interface Cut {
  whole: Range;
  /** Less than one unit each; none of them empty. */
  rest: Range[];
}

/** Of a range that has a whole unit. */
export function cutBy(unitMs: number, { fromMs, toMs }: Range): Cut {
  const whole = wholeOf(unitMs, { fromMs, toMs });
  const rest = [
    { fromMs, toMs: whole.fromMs },
    { fromMs: whole.toMs, toMs },
  ];
  return { whole, rest: rest.filter((part) => part.fromMs < part.toMs) };
}

export function hasWhole(unitMs: number, range: Range): boolean {
  const { fromMs, toMs } = wholeOf(unitMs, range);
  return fromMs < toMs;
}

function wholeOf(unitMs: number, { fromMs, toMs }: Range): Range {
  return {
    fromMs: Math.ceil(fromMs / unitMs) * unitMs,
    toMs: Math.floor(toMs / unitMs) * unitMs,
  };
}

/** Longer lists of days would make the look at them dearer than what it saves. */
const maxDays = 400;

/** The last day that a column of days can be, since the epoch: 6 June 2149. */
const lastDate = 65_535;

/** Whether the range has two whole UTC days, and not too many: only then are days kept. */
export function hasDays({ fromMs, toMs }: Range): boolean {
  if (toMs > lastDate * dayMs) return false;
  const whole = Math.floor(toMs / dayMs) - Math.ceil(fromMs / dayMs);
  return whole > 1 && Math.ceil(toMs / dayMs) - Math.floor(fromMs / dayMs) <= maxDays + 1;
}
