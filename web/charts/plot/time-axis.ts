// The axis of time: which buckets have their names at it, by the clock and the calendar that their labels show.

import { shownMs } from '../../time/labels.ts';
import { zoneFormat } from '../../time/zone.ts';

/** `index`: of the bucket. */
export type Tick = { index: number; text: string };

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
/** The first Monday of the era: weeks begin with it. */
const mondayMs = 4 * day;

/** `lengthMs` is the shortest. `place` numbers the spans: the first bucket of one is round. */
type Step = { lengthMs: number; place: (ms: number) => number; style: Intl.DateTimeFormatOptions };

const ofDay = { day: 'numeric', month: 'short' } as const;

function steady(lengthMs: number, style: Intl.DateTimeFormatOptions, fromMs = 0): Step {
  return { lengthMs, place: (ms) => Math.floor((ms - fromMs) / lengthMs), style };
}

function monthly(count: number, style: Intl.DateTimeFormatOptions): Step {
  const place = (ms: number): number => {
    const date = new Date(ms);
    return Math.floor((date.getUTCFullYear() * 12 + date.getUTCMonth()) / count);
  };
  return { lengthMs: count * 28 * day, place, style };
}

const clock = { hour: '2-digit', minute: '2-digit' } as const;
const steps: readonly Step[] = [
  ...[1, 5, 15, 30].map((count) => steady(count * second, { ...clock, second: '2-digit' })),
  ...[1, 5, 15, 30].map((count) => steady(count * minute, clock)),
  ...[1, 3, 6, 12].map((count) => steady(count * hour, clock)),
  ...[1, 2].map((count) => steady(count * day, ofDay)),
  ...[7, 14].map((count) => steady(count * day, ofDay, mondayMs)),
  ...[1, 2, 3, 6].map((count) => monthly(count, { month: 'short', year: 'numeric' })),
  monthly(12, { year: 'numeric' }),
];

/** The names of at most `most` buckets, ascending: the closest round steps that fit, else every so many. */
export function timeTicks(labels: readonly string[], most: number): Tick[] {
  const moments = labels.map(shownMs);
  const bucketMs = shortest(moments);
  for (const step of steps) {
    // A month has no fixed length, and a day with a change of the clock 23 hours.
    if (step.lengthMs < bucketMs * 0.9) continue;
    const found = roundIn(moments, step);
    if (found.length > most) continue;
    if (found.length > 1 || moments.length === 1) return found.map(textOf(moments, step.style));
    break;
  }
  const every = Math.max(1, Math.ceil(moments.length / most));
  const some = moments.map((_, index) => index).filter((index) => index % every === 0);
  return some.map(textOf(moments, bucketMs < day * 0.9 ? clock : ofDay));
}

function shortest(moments: readonly number[]): number {
  const lengths = moments.slice(1).map((ms, index) => ms - (moments[index] ?? ms));
  return Math.min(Number.MAX_SAFE_INTEGER, ...lengths.filter((length) => length > 0));
}

function roundIn(moments: readonly number[], { place }: Step): number[] {
  return moments.flatMap((ms, index) =>
    place(ms) === place(moments[index - 1] ?? ms - 1) ? [] : [index],
  );
}

/** At midnight a clock says the day. */
function textOf(moments: readonly number[], style: Intl.DateTimeFormatOptions) {
  return (index: number): Tick => {
    const ms = moments[index] ?? 0;
    const isMidnight = style.hour !== undefined && ms % day === 0;
    return { index, text: zoneFormat('UTC', isMidnight ? ofDay : style).format(ms) };
  };
}
