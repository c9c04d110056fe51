// Reads the buckets in which users were active from profile_days, a row for each UTC day of a profile with a bit for
// each quarter of an hour in which it sent an event of any kind. It serves whole UTC days alone.

import { personJoinSql, userKeySql } from '../events/persons.ts';
import type { Question } from '../question/question.ts';
import { bitColumns, bitsOfPlace } from './bucket-bits.ts';

const quarterMs = 900_000;
const dayMs = 96 * quarterMs;
/** The quarters of a day whose bits are in the column `morning`; the others are in `evening`. */
const morningQuarters = 48;

/** Half-open, in milliseconds. */
export interface Range {
  fromMs: number;
  toMs: number;
}

export interface ByDays {
  /** Whole UTC days, which profile_days answers. */
  days: Range;
  /** What raw events must answer. */
  rest: Range[];
}

/** Parts a range; undefined where whole days answer no part of it, because buckets are hours or part a quarter. */
export function partByDays(
  { fromMs, toMs }: Range,
  buckets: readonly number[],
): ByDays | undefined {
  const days = {
    fromMs: Math.ceil(fromMs / dayMs) * dayMs,
    toMs: Math.floor(toMs / dayMs) * dayMs,
  };
  if (days.fromMs >= days.toMs) return undefined;
  const isServed = buckets.every(
    (startMs, place) =>
      startMs % quarterMs === 0 && dayOf(startMs) !== dayOf(buckets[place + 1] ?? Infinity),
  );
  if (!isServed) return undefined;
  const rest = [
    { fromMs, toMs: days.fromMs },
    { fromMs: days.toMs, toMs },
  ];
  return { days, rest: rest.filter((range) => range.fromMs < range.toMs) };
}

function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

/** SELECT of user_key, never 0, and bitColumns, of whole UTC days. In no day more than one bucket begins. */
export function daysSql(
  question: Question,
  { fromMs, toMs }: Range,
  buckets: readonly number[],
): string {
  const { bindings, project, spec } = question;
  const list = Array.from({ length: dayOf(toMs) - dayOf(fromMs) }, (_, index) =>
    readDay((dayOf(fromMs) + index) * dayMs, buckets),
  );
  const day = (ms: number): string => `toDate(${bindings.bind('Int64', dayOf(ms))})`;
  const numbers = bindings.bind(
    'Array(Int64)',
    list.map(({ number }) => BigInt(number)),
  );
  const ofDay = (values: readonly number[]): string => {
    const [first = 0] = values;
    if (values.every((value) => value === first))
      return `toUInt64(${bindings.bind('Int64', first)})`;
    const listed = bindings.bind('Array(Int64)', values.map(BigInt));
    return `toUInt64(transform(toInt64(toUInt16(day)), ${numbers}, ${listed}, toInt64(0)))`;
  };
  const early = `bitAnd(morning, ${ofDay(list.map(({ morning }) => morning))}) != 0
    OR bitAnd(evening, ${ofDay(list.map(({ evening }) => evening))}) != 0`;
  const isParted = list.some(({ isWhole }) => !isWhole);
  const late = `bitAnd(morning, bitNot(${ofDay(list.map(({ morning }) => morning))})) != 0
    OR bitAnd(evening, bitNot(${ofDay(list.map(({ evening }) => evening))})) != 0`;
  const rows = `SELECT ${userKeySql(spec.includeCookieless)} AS user_key,
      ${ofDay(list.map(({ place }) => place))} AS first_place, ${isParted ? early : 'true'} AS is_early, ${isParted ? late : 'false'} AS is_late
    FROM profile_days ${personJoinSql(project)}
    WHERE project_id = ${project} AND day >= ${day(fromMs)} AND day < ${day(toMs)}`;
  const columns = bitColumns(buckets.length);
  const bits = bitsOfPlace(buckets.length, 'first_place').map((first, word) => {
    const next = bitsOfPlace(buckets.length, '(first_place + 1)')[word];
    return isParted
      ? `bitOr(if(is_early, ${first}, 0), if(is_late, ${next}, 0)) AS ${columns[word]}`
      : `${first} AS ${columns[word]}`;
  });
  return `SELECT user_key, ${bits.join(', ')} FROM (${rows}) WHERE user_key != 0`;
}

interface Day {
  /** Days since 1970. */
  number: number;
  /** The place of the bucket of its first moment. */
  place: number;
  /** The bits of the quarters in that bucket; all others are in the next one. */
  morning: number;
  evening: number;
  isWhole: boolean;
}

function readDay(startMs: number, buckets: readonly number[]): Day {
  const place = buckets.findLastIndex((bucketMs) => bucketMs <= startMs);
  const nextMs = buckets[place + 1] ?? Infinity;
  const quarters = Math.min((nextMs - startMs) / quarterMs, 96);
  return {
    ...{ number: dayOf(startMs), place, isWhole: quarters === 96 },
    morning: 2 ** Math.min(quarters, morningQuarters) - 1,
    evening: 2 ** Math.max(quarters - morningQuarters, 0) - 1,
  };
}
