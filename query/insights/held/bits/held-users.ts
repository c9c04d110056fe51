// Users in several ranges and buckets, from held days: the statement reads the other days, the parts of a quarter of an
// hour at the ends, and who was merged or deleted.

import { dayMs } from '../../../../platform/clock.ts';
import type { EventCondition } from '../../events/event-condition.ts';
import { daysNotKept, type QuestionDays } from '../../kept/day-cells.ts';
import type { HeldStatement } from '../../plan.ts';
import type { Question } from '../../question/question.ts';
import { quarterMs } from '../../question/time-buckets.ts';
import { cutBy, hasDays, type Range } from '../../sources/cut.ts';
import { activitySql, isFromDays } from '../../users/activity.ts';
import { allBits, bitColumns } from '../../users/bucket-bits.ts';
import { dayParts } from '../../users/profile-days.ts';
import { heldRowsSql, readHeldRows, type TextRows } from '../identities.ts';
import { bytesSql, packPairsSql, readWords } from '../packed-words.ts';
import { wordsOf } from '../quarter-words.ts';
import type { Tally } from './tally.ts';
import type { Stretch } from './user-bits.ts';

/** Ranges that have no moment in common, and when each stretch of time begins. It ends with the next, or its range. */
export interface Stretches {
  ranges: readonly Range[];
  starts: readonly number[];
}

interface HeldUsers {
  /** Of the events that make a user active. */
  condition: EventCondition;
  stretches: Stretches;
  tally: Tally;
  /** The stretch with the place 0 goes on into the past for ever. */
  withOlder?: boolean;
  /** SELECTs of other rows, and how many these answer at most. */
  rest: readonly string[];
  maxRows: number;
  textRows: TextRows;
  /** The rows of the users, by the numbers of the tally's cells. */
  rowsOf(counts: Float64Array): unknown[][];
}

/** Who was merged, who was deleted, and the activity that is not held. */
const maxHeldRows = 3;

/** Undefined where held days do not tell, as of some events only, or hardly spare anything. */
export function heldUsers(question: Question, users: HeldUsers): HeldStatement | undefined {
  const { condition, stretches, tally, withOlder = false, rest, maxRows, textRows } = users;
  const { ranges, starts } = stretches;
  const days = daysOfRanges(ranges);
  const columns = bitColumns(starts.length);
  const activity = { condition, buckets: starts, ranges };
  const isServed = days.first >= 0 && hasDays(days) && columns.length === 1;
  if (!isServed || !isFromDays(question, activity)) return undefined;
  const isCounted = question.spec.includeCookieless ? 'true' : 'NOT cookieless';
  const others = activitySql(question, { ...activity, days: daysNotKept });
  const pairs = packPairsSql(bytesSql('profile_key'), bytesSql(columns.join()));
  const texts = heldRowsSql(
    question,
    `SELECT ${pairs} AS text FROM (SELECT profile_key, ${allBits(columns)} FROM (${others})
      WHERE ${isCounted} GROUP BY profile_key)`,
    textRows,
  );
  return {
    sql: [...texts, ...rest].join(' UNION ALL '),
    maxRows: maxRows + maxHeldRows,
    ...{ days, needsFirstDays: withOlder },
    async rowsOf(rows, held) {
      const read = readHeldRows(rows, textRows);
      const counts = await held.count(read.identities, readWords(read.others), {
        stretches: stretchesOfDays(stretches),
        withCookieless: question.spec.includeCookieless,
        tally,
        olderThan: withOlder ? days.first : undefined,
      });
      return [...users.rowsOf(counts), ...read.rest];
    },
  };
}

/** From the first day of all ranges to the last one. */
function daysOfRanges(ranges: readonly Range[]): QuestionDays {
  const fromMs = Math.min(...ranges.map((range) => range.fromMs));
  const toMs = Math.max(...ranges.map((range) => range.toMs));
  const [first, last] = [Math.floor(fromMs / dayMs), Math.ceil(toMs / dayMs) - 1];
  return {
    fromMs,
    toMs,
    first,
    last,
    firstOfRange: first,
    lastOfRange: last,
    buckets: [],
  };
}

/** The stretches that have a part of each UTC day, by the day since the epoch. */
function stretchesOfDays({ ranges, starts }: Stretches): Map<number, Stretch[]> {
  const found = new Map<number, Stretch[]>();
  for (const range of ranges) {
    const days = cutBy(quarterMs, range)?.whole;
    if (days === undefined) continue;
    const first = Math.floor(days.fromMs / dayMs);
    for (const [index, { place, early, late }] of dayParts(days, starts).entries()) {
      const parts = [
        { place, quarters: wordsOf(early) },
        { place: place + 1, quarters: wordsOf(late) },
      ].filter(({ quarters }) => quarters.some((word) => word !== 0));
      found.set(first + index, [...(found.get(first + index) ?? []), ...parts]);
    }
  }
  return found;
}
