// TOP_K by user and number of events where the range's days are held in memory: the statement reads the other events,
// and who was merged or deleted.

import type { EventCondition } from '../events/event-condition.ts';
import type { HeldRange } from '../held/held-range.ts';
import { type HeldRows, heldRowsSql, type TextRows } from '../held/identities.ts';
import { bytesSql, packPairsSql, readWords } from '../held/packed-words.ts';
import type { MostEvents } from '../held/profile-sums.ts';
import { daysNotKept } from '../kept/day-cells.ts';
import type { Question } from '../question/question.ts';
import { profileEventsSql } from '../users/activity.ts';

/** SELECTs as heldRowsSql; undefined where held days do not answer the question. */
export function heldTopUsersSql(
  question: Question,
  condition: EventCondition,
  textRows: TextRows,
): string[] | undefined {
  if (question.spec.includeCookieless) return undefined;
  const events = profileEventsSql(question, condition, daysNotKept);
  if (events === undefined) return undefined;
  const pairs = packPairsSql(bytesSql('profile_key'), bytesSql('sum'));
  return heldRowsSql(
    question,
    `SELECT ${pairs} AS text FROM (
      SELECT profile_key, sum(events) AS sum FROM (${events}) WHERE NOT cookieless GROUP BY profile_key)`,
    textRows,
  );
}

export function heldTopUsers(
  { identities, others }: HeldRows,
  held: HeldRange,
  limit: number,
): Promise<MostEvents> {
  return held.most(identities, readWords(others), limit);
}
