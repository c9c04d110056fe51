// Reads the buckets in which profiles were active from profile_days, a row for each UTC day of a profile with a bit
// for each quarter of an hour in which it sent an event of any kind.

import type { Question } from '../question/question.ts';
import { bitColumns, bitsOfPlace } from './bucket-bits.ts';

const quarterMs = 900_000;
const dayQuarters = 96;
const dayMs = dayQuarters * quarterMs;
/** The quarters of a day whose bits are in the column `morning`; the others are in `evening`. */
const morningQuarters = 48;

/** Half-open, in milliseconds. */
export interface Range {
  fromMs: number;
  toMs: number;
}

/** A range in parts, none of them empty. */
export interface ByDays {
  /** Whole quarters of one day, or whole days, which profile_days answers. */
  days: Range[];
  /** Less than a quarter each, which raw events must answer. */
  rest: Range[];
}

/** Undefined where days do not answer any part: buckets part a quarter, or two of them begin on a day. */
export function partByDays(
  { fromMs, toMs }: Range,
  buckets: readonly number[],
): ByDays | undefined {
  const isServed = buckets.every(
    (startMs, place) =>
      startMs % quarterMs === 0 &&
      dayOf(startMs) !== dayOf(buckets[place + 1] ?? Number.POSITIVE_INFINITY),
  );
  const firstMs = Math.ceil(fromMs / quarterMs) * quarterMs;
  const lastMs = Math.floor(toMs / quarterMs) * quarterMs;
  if (!isServed || firstMs >= lastMs) return undefined;
  const midnightMs = Math.min(Math.ceil(firstMs / dayMs) * dayMs, lastMs);
  const lastMidnightMs = Math.max(Math.floor(lastMs / dayMs) * dayMs, midnightMs);
  return {
    days: parts(firstMs, midnightMs, lastMidnightMs, lastMs),
    rest: [...parts(fromMs, firstMs), ...parts(lastMs, toMs)],
  };
}

function parts(...bounds: number[]): Range[] {
  return bounds
    .slice(1)
    .map((toMs, index) => ({ fromMs: bounds[index] ?? toMs, toMs }))
    .filter(({ fromMs, toMs }) => fromMs < toMs);
}

function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

/** SELECT of profile_key, cookieless and bitColumns over one of the `days` of partByDays. */
export function daysSql(
  { bindings, project }: Question,
  range: Range,
  buckets: readonly number[],
): string {
  const { fromMs, toMs } = range;
  const days: Day[] = [];
  for (let ms = fromMs; ms < toMs; ms = (dayOf(ms) + 1) * dayMs)
    days.push(readDay(ms, toMs, buckets));
  const date = (ms: number): string => `toDate(${bindings.bind('Int64', dayOf(ms))})`;
  const numbers = bindings.bind(
    'Array(Int64)',
    days.map(({ number }) => BigInt(number)),
  );
  const ofDay = (numberOf: (day: Day) => number): string => {
    const values = days.map(numberOf);
    const [first = 0] = values;
    if (values.every((value) => value === first)) {
      return `toUInt64(${bindings.bind('Int64', first)})`;
    }
    const list = bindings.bind('Array(Int64)', values.map(BigInt));
    return `toUInt64(transform(toInt64(toUInt16(day)), ${numbers}, ${list}, toInt64(0)))`;
  };
  const isActive = (quarters: (day: Day) => Quarters): string =>
    `bitAnd(morning, ${ofDay((day) => quarters(day).morning)}) != 0 OR bitAnd(evening, ${ofDay((day) => quarters(day).evening)}) != 0`;
  const isLate = days.some(({ late }) => late.morning + late.evening > 0);
  const columns = bitColumns(buckets.length);
  const next = bitsOfPlace(buckets.length, '(early_place + 1)');
  const bits = bitsOfPlace(buckets.length, 'early_place').map((early, word) => {
    const late = isLate ? `if(is_late, ${next[word]}, 0)` : '0';
    return `bitOr(if(is_early, ${early}, 0), ${late}) AS ${columns[word]}`;
  });
  return `SELECT profile_key, cookieless, ${bits.join(', ')} FROM (
    SELECT profile_key, cookieless, ${ofDay(({ place }) => place)} AS early_place,
      ${isActive(({ early }) => early)} AS is_early, ${isLate ? isActive(({ late }) => late) : 'false'} AS is_late
    FROM profile_days WHERE project_id = ${project} AND day >= ${date(fromMs)} AND day <= ${date(toMs - 1)}) WHERE is_early OR is_late`;
}

/** Bits of the two columns. */
interface Quarters {
  morning: number;
  evening: number;
}

interface Day {
  /** Days since 1970. */
  number: number;
  /** The place of the bucket of the day's first moment in the range. */
  place: number;
  early: Quarters;
  /** Those of the next bucket. */
  late: Quarters;
}

/** The day of `fromMs`, from there to its end or to `toMs`. */
function readDay(fromMs: number, toMs: number, buckets: readonly number[]): Day {
  const number = dayOf(fromMs);
  const place = buckets.findLastIndex((startMs) => startMs <= fromMs);
  const endMs = Math.min((number + 1) * dayMs, toMs);
  const nextMs = Math.min(buckets[place + 1] ?? endMs, endMs);
  const quarter = (ms: number): number => (ms - number * dayMs) / quarterMs;
  return {
    ...{ number, place },
    early: quartersBetween(quarter(fromMs), quarter(nextMs)),
    late: quartersBetween(quarter(nextMs), quarter(endMs)),
  };
}

function quartersBetween(from: number, to: number): Quarters {
  const noon = morningQuarters;
  const bits = (first: number, last: number): number => 2 ** last - 2 ** first;
  return {
    morning: bits(Math.min(from, noon), Math.min(to, noon)),
    evening: bits(Math.max(from - noon, 0), Math.max(to - noon, 0)),
  };
}
