// Users in several ranges and buckets, from held days: the statement reads the other days, the parts of a quarter of an
// hour at the ends, and who was merged or deleted.

import { dayMs } from '../../../platform/clock.ts';
import { every } from '../events/event-condition.ts';
import { daysNotKept, type QuestionDays } from '../kept/day-cells.ts';
import type { Question } from '../question/question.ts';
import { activitySql } from '../users/activity.ts';
import { allBits, bitColumns } from '../users/bucket-bits.ts';
import { dayParts, partByDays, type Range } from '../users/profile-days.ts';
import { heldRowsSql } from './identities.ts';
import { bytesSql, packPairsSql } from './packed-words.ts';
import { wordsOf } from './quarter-words.ts';
import type { Stretch } from './user-bits.ts';

/** Ranges that have no moment in common, and when each stretch of time begins. It ends with the next, or its range. */
export interface Stretches {
  ranges: readonly Range[];
  starts: readonly number[];
}

/** SELECTs as heldRowsSql. Undefined for more stretches than held days are counted by. */
export function heldUsersSql(
  question: Question,
  { ranges, starts }: Stretches,
): string[] | undefined {
  const columns = bitColumns(starts.length);
  if (columns.length > 1) return undefined;
  const activity = activitySql(question, {
    ...{ condition: every, buckets: starts, ranges },
    days: daysNotKept,
  });
  const isCounted = question.spec.includeCookieless ? 'true' : 'NOT cookieless';
  const pairs = packPairsSql(bytesSql('profile_key'), bytesSql(columns.join()));
  return heldRowsSql(
    question,
    `SELECT ${pairs} AS text FROM (SELECT profile_key, ${allBits(columns)} FROM (${activity})
      WHERE ${isCounted} GROUP BY profile_key)`,
  );
}

/** From the first day of all ranges to the last one. */
export function daysOfRanges(ranges: readonly Range[]): QuestionDays {
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
    starts: [],
  };
}

/** The stretches that have a part of each UTC day, by the day since the epoch. */
export function stretchesOfDays({ ranges, starts }: Stretches): Map<number, Stretch[]> {
  const found = new Map<number, Stretch[]>();
  for (const range of ranges) {
    const days = partByDays(range, starts)?.days;
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
