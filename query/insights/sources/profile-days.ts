// Reads the buckets in which profiles were active from profile_days, a row for each UTC day of a profile with a bit
// for each quarter of an hour in which it sent an event of any kind.

import type { Bindings } from '../../filters/bindings.ts';
import type { Range } from '../read/plan-notes.ts';
import type { Question } from '../read/question.ts';
import { quarterMs } from '../read/time-buckets.ts';
import { bitColumns, bitsOfPlace } from '../sql/bucket-bits.ts';
import { daySql } from '../sql/read-events.ts';

const dayQuarters = 96;
const dayMs = dayQuarters * quarterMs;
/** The quarters of a day whose bits are in the column `morning`; the others are in `evening`. */
const morningQuarters = 48;

function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

/** SELECT of profile_key, cookieless and bitColumns over a range of whole quarters. */
export function daysSql(question: Question, range: Range, buckets: readonly number[]): string {
  const { bindings } = question;
  const rows = daysOfSql(question, range);
  const days = dayParts(range, buckets);
  const [count, first] = [buckets.length, dayOf(range.fromMs)];
  const places = days.map(({ place }) => place);
  const place = placeOfDaySql(bindings, first, places);
  const isActive = (part: 'early' | 'late'): string =>
    isActiveSql(
      bindings,
      first,
      days.map((day) => day[part]),
    );
  const [isEarly, isLate] = [isActive('early'), isActive('late')];
  const columns = bitColumns(count);
  if (isLate === 'false') {
    const bits = bitsOfPlace(count, place).map((sql, word) => `${sql} AS ${columns[word]}`);
    return `SELECT profile_key, cookieless, ${bits.join(', ')} ${rows} WHERE ${isEarly}`;
  }
  const next = bitsOfPlace(count, '(early_place + 1)');
  const bits = bitsOfPlace(count, 'early_place').map(
    (sql, word) =>
      `bitOr(if(is_early, ${sql}, 0), if(is_late, ${next[word]}, 0)) AS ${columns[word]}`,
  );
  return `SELECT profile_key, cookieless, ${bits.join(', ')} FROM (
    SELECT profile_key, cookieless, ${place} AS early_place, ${isEarly} AS is_early, ${isLate} AS is_late ${rows}) WHERE is_early OR is_late`;
}

/** SELECT of profile_key, cookieless and events over the whole days of a range. */
export function dayEventsSql(question: Question, range: Range): string {
  return `SELECT profile_key, cookieless, events ${daysOfSql(question, range)}`;
}

/**
 * FROM and PREWHERE. Most rows are active: to choose them before their other columns
 * are read costs a third more.
 */
function daysOfSql(
  { bindings, project, notes }: Pick<Question, 'bindings' | 'project' | 'notes'>,
  { fromMs, toMs }: Range,
): string {
  notes.reads.push({ fromMs, toMs });
  return `FROM profile_days PREWHERE project_id = ${project} AND day >= ${daySql(fromMs, bindings)} AND day <= ${daySql(toMs - 1, bindings)}`;
}

/** Holds for a profile that was active in these quarters of each day from `first` on. */
function isActiveSql(bindings: Bindings, first: number, days: readonly Quarters[]): string {
  const halves = (['morning', 'evening'] as const).flatMap((half) => {
    const masks = days.map((day) => day[half]);
    if (masks.every((mask) => mask === 0)) return [];
    const mask =
      stepsSql(bindings, first, masks) ?? `toUInt64(${listedSql(bindings, first, masks)})`;
    return [`bitAnd(${half}, ${mask})`];
  });
  if (halves.length === 0) return 'false';
  return `${halves.length === 1 ? halves.join() : `bitOr(${halves.join(', ')})`} != 0`;
}

/** A list costs twice as much as so many comparisons. */
const maxComparisons = 6;

/** SQL for a place of each day; `places` are those of the days from `first` on. */
function placeOfDaySql(bindings: Bindings, first: number, places: readonly number[]): string {
  const steps = stepsSql(bindings, first, places);
  if (steps !== undefined) return `toUInt16(${steps})`;
  // Each day has its own bucket: the difference hardly ever changes.
  const behind = stepsSql(
    bindings,
    first,
    places.map((place, index) => first + index - place),
  );
  if (behind !== undefined) return `toUInt16(toUInt16(day) - ${behind})`;
  return `toUInt16(${listedSql(bindings, first, places)})`;
}

/**
 * SQL for the number of each day, undefined where it changes too often or is negative; `numbers` are those of the days
 * from `first` on. Days are compared as the table has them, and numbers are unsigned as its columns are: other types
 * take a third longer.
 */
function stepsSql(
  bindings: Bindings,
  first: number,
  numbers: readonly number[],
): string | undefined {
  if (numbers.some((value) => value < 0)) return undefined;
  const number = (value = 0): string => bindings.bind('UInt64', value);
  const changes = numbers.flatMap((value, index) =>
    index > 0 && value === numbers[index - 1] ? [] : [{ day: first + index, value }],
  );
  const last = number(changes.at(-1)?.value);
  if (changes.length === 1) return last;
  if (changes.length > maxComparisons) return undefined;
  const branches = changes
    .slice(1)
    .map(
      ({ day }, index) =>
        `day < ${daySql(day * dayMs, bindings)}, ${number(changes[index]?.value)}`,
    );
  return `multiIf(${branches.join(', ')}, ${last})`;
}

/** The same where the number may change each day. */
function listedSql(bindings: Bindings, first: number, numbers: readonly number[]): string {
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
