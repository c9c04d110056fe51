// Reads the buckets in which profiles were active from profile_days, a row for each UTC day of a profile with a bit
// for each quarter of an hour in which it sent an event of any kind.

import { dayMs } from '../../../platform/clock.ts';
import type { Bindings } from '../../filters/bindings.ts';
import type { Range } from '../read/plan-notes.ts';
import type { Question } from '../read/question.ts';
import { quarterMs } from '../read/time-buckets.ts';
import { bitsOfPlace, placeBits } from '../sql/bucket-bits.ts';
import { listedKeysSql } from '../sql/persons.ts';
import { daySql } from '../sql/read-events.ts';

/** The quarters of a day whose bits are in the column `morning`; the others are in `evening`. */
const morningQuarters = 48;

function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

/** SELECT of profile_key, cookieless and bitColumns over a range of whole quarters. */
export function daysSql(question: Question, range: Range, buckets: readonly number[]): string {
  const rows = daysOfSql(question, range);
  const parts = dayParts(range, buckets);
  const days = { bindings: question.bindings, first: dayOf(range.fromMs) };
  const count = buckets.length;
  const place = placeOfDaySql(days, parts);
  const [isEarly, isLate] = [isActiveSql(days, parts, 'early'), isActiveSql(days, parts, 'late')];
  if (isLate === 'false') {
    const bits = placeBits(count, (bit) => bit, place);
    return `SELECT profile_key, cookieless, ${bits} ${rows} WHERE ${isEarly}`;
  }
  const next = bitsOfPlace(count, '(early_place + 1)');
  const either = (early: string, word: number): string =>
    `bitOr(if(is_early, ${early}, 0), if(is_late, ${next[word]}, 0))`;
  const bits = placeBits(count, either, 'early_place');
  return `SELECT profile_key, cookieless, ${bits} FROM (
    SELECT profile_key, cookieless, ${place} AS early_place, ${isEarly} AS is_early, ${isLate} AS is_late ${rows}) WHERE is_early OR is_late`;
}

/** SELECT of profile_key, cookieless and events over the whole days of a range. */
export function dayEventsSql(question: Question, range: Range): string {
  return `SELECT profile_key, cookieless, events ${daysOfSql(question, range)}`;
}

/** FROM and PREWHERE. Most rows are active: to choose them before their other columns are read costs a third more. */
function daysOfSql(question: Question, { fromMs, toMs }: Range): string {
  const { bindings, project, notes } = question;
  notes.reads.push({ fromMs, toMs });
  const listed = listedKeysSql(question);
  const within = `day >= ${daySql(fromMs, bindings)} AND day <= ${daySql(toMs - 1, bindings)}`;
  return `FROM profile_days PREWHERE project_id = ${project} AND ${within}${listed === undefined ? '' : ` AND ${listed}`}`;
}

/** The days from `first` on: lists of numbers have one for each. */
interface Days {
  bindings: Bindings;
  first: number;
}

/** Holds for a profile that was active in that part of each day. */
function isActiveSql(days: Days, parts: readonly Day[], part: 'early' | 'late'): string {
  const halves = (['morning', 'evening'] as const).flatMap((half) => {
    const masks = parts.map((day) => day[part][half]);
    if (masks.every((mask) => mask === 0)) return [];
    const mask = stepsSql(days, masks) ?? `toUInt64(${listedSql(days, masks)})`;
    return [`bitAnd(${half}, ${mask})`];
  });
  if (halves.length === 0) return 'false';
  return `${halves.length === 1 ? halves.join() : `bitOr(${halves.join(', ')})`} != 0`;
}

/** A list costs twice as much as so many comparisons. */
const maxComparisons = 6;

/** SQL for the place of each day. */
function placeOfDaySql(days: Days, parts: readonly Day[]): string {
  const places = parts.map(({ place }) => place);
  const steps = stepsSql(days, places);
  if (steps !== undefined) return `toUInt16(${steps})`;
  // Each day has its own bucket: the difference hardly ever changes.
  const differences = places.map((place, index) => days.first + index - place);
  const behind = stepsSql(days, differences);
  if (behind !== undefined) return `toUInt16(toUInt16(day) - ${behind})`;
  return `toUInt16(${listedSql(days, places)})`;
}

/**
 * SQL for the number of each day, undefined where it changes too often or is negative. Days are compared as the table
 * has them, and numbers are unsigned as its columns are: other types take a third longer.
 */
function stepsSql({ bindings, first }: Days, numbers: readonly number[]): string | undefined {
  if (numbers.some((value) => value < 0)) return undefined;
  const number = (value = 0): string => bindings.bind('UInt64', value);
  const changes = numbers.flatMap((value, index) =>
    index > 0 && value === numbers[index - 1] ? [] : [{ day: first + index, value }],
  );
  const last = number(changes.at(-1)?.value);
  if (changes.length === 1) return last;
  if (changes.length > maxComparisons) return undefined;
  const until = (day: number): string => `day < ${daySql(day * dayMs, bindings)}`;
  const branches = changes
    .slice(1)
    .map(({ day }, index) => `${until(day)}, ${number(changes[index]?.value)}`);
  return `multiIf(${branches.join(', ')}, ${last})`;
}

/** The same where the number may change each day. */
function listedSql({ bindings, first }: Days, numbers: readonly number[]): string {
  const list = bindings.bind('Array(Int64)', numbers.map(BigInt));
  return `${list}[toUInt16(day) - ${bindings.bind('Int64', first - 1)}]`;
}

/** Bits of the two columns. */
interface Quarters {
  morning: number;
  evening: number;
}

/** A UTC day of a range of whole quarters, as far as it lies in the range. */
interface Day {
  /** The place of the bucket of its first moment in the range. */
  place: number;
  early: Quarters;
  /** Those of the next bucket. */
  late: Quarters;
}

/** The days of a range of whole quarters, each from the range's beginning or midnight on. */
function dayParts({ fromMs, toMs }: Range, buckets: readonly number[]): Day[] {
  const days: Day[] = [];
  for (let ms = fromMs; ms < toMs; ms = (dayOf(ms) + 1) * dayMs) {
    days.push(readDay(ms, toMs, buckets));
  }
  return days;
}

/** The day of `fromMs`, from there to its end or to `toMs`. */
function readDay(fromMs: number, toMs: number, buckets: readonly number[]): Day {
  const number = dayOf(fromMs);
  const place = buckets.findLastIndex((startMs) => startMs <= fromMs);
  const endMs = Math.min((number + 1) * dayMs, toMs);
  const nextMs = Math.min(buckets[place + 1] ?? endMs, endMs);
  const quarter = (ms: number): number => (ms - number * dayMs) / quarterMs;
  return {
    place,
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
