// The axis of values: round steps of what is counted, from zero on, and how they are written at it.

import { milliseconds, shortFigure } from '../../../platform/words/figures.ts';

/** `share`: of 1. `seconds`: steps are those of clocks. */
export type Unit = 'number' | 'share' | 'seconds';

/** `low` and `high` are ticks; `high` is above `low`. */
export type ValueAxis = { low: number; high: number; ticks: number[] };

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
/** From a second on; below, and above 30 days, steps are those of numbers. */
const clockSteps = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 5, 10, 30].map((count) => count * day),
];

/**
 * The axis that holds these values and zero, with at most `most` steps; `most` is at least 1. `isWhole`: all values
 * are whole, so that no step is a part of one.
 */
export function valueAxis(
  values: { low: number; high: number },
  unit: Unit,
  most: number,
  isWhole: boolean,
): ValueAxis {
  const low = Math.min(0, values.low);
  const high = Math.max(0, values.high) || (low < 0 ? 0 : 1);
  const step = stepOf((high - low) / most, unit, isWhole);
  // Below zero and above it, each by itself: the sum of both may need a step more than the span.
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  const clean = ticks.map((tick) => Number(tick.toPrecision(12)) + 0);
  return { low: clean[0] ?? 0, high: clean.at(-1) ?? 1, ticks: clean };
}

/** The least round step that is at least `least`. */
function stepOf(least: number, unit: Unit, isWhole: boolean): number {
  if (unit === 'seconds' && least > 0.5) {
    const ofClock = clockSteps.find((step) => step >= least);
    if (ofClock !== undefined) return ofClock;
  }
  if (isWhole && least <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const digit = [1, 2, 5, 10].find((one) => one * power >= least * (1 - 1e-9)) ?? 10;
  return digit * power;
}

/** A tick as it stands at the axis: "12K", "25%", "2 min". */
export function tickText(tick: number, unit: Unit): string {
  if (tick < 0) return `−${tickText(-tick, unit)}`;
  switch (unit) {
    case 'number':
      return shortFigure(tick);
    case 'share':
      return `${Number((tick * 100).toPrecision(6))}%`;
    case 'seconds':
      // A round time has no rest: 2 min 0 s is 2 min.
      return tick === 0
        ? '0'
        : milliseconds(tick * 1000)
            .replace(/\.0 /, ' ')
            .replace(/ 0 \w+$/, '');
    default:
      return unit satisfies never;
  }
}
