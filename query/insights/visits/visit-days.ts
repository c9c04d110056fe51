// How days of a session make visits, and the days of a question's visits in the tables visits and visit_entries, which
// have a row for each UTC day of a session, or several until they are merged. Nearly all sessions have one row, which
// is the visit; only the others are grouped.

import { daySql, momentSql } from '../events/read-events.ts';
import type { Question } from '../question/question.ts';
import { visitWindow } from './visit.ts';

/** SQL for the days of a question's visits. */
export interface VisitDays {
  /** A condition on `day`: one of the window. */
  inWindow: string;
  /** Conditions on `day`: a visit of the range may begin on it, and the same with the days of the window before. */
  ofRange: string;
  untilRangeEnds: string;
  /** A condition on the moment when a visit begins. */
  isInRange(first: string): string;
}

export function visitDays(question: Question): VisitDays {
  const { bindings, fromMs, toMs } = question;
  const window = visitWindow(question);
  const between = (startMs: number, endMs: number): string =>
    `day >= ${daySql(startMs, bindings)} AND day <= ${daySql(endMs - 1, bindings)}`;
  return {
    inWindow: between(window.fromMs, window.toMs),
    ofRange: between(fromMs, toMs),
    untilRangeEnds: between(window.fromMs, toMs),
    isInRange: (first) =>
      `${first} >= ${momentSql(fromMs, bindings)} AND ${first} < ${momentSql(toMs, bindings)}`,
  };
}

/**
 * SQL that puts rows with a `day` together to visits. Each row is in the groups of its own day, of the day before,
 * whose visit it may end, and of the day after, on which none begins. A session that has not `several` days needs the
 * first group only.
 */
export const daysAround = {
  join: (several: string) => `ARRAY JOIN if(${several}, [-1, 0, 1], [0]) AS shift`,
  by: 'session_id, day + shift',
  /** A condition on a group: some row is of its day, and none of the day before. */
  isVisit: 'max(shift) = 0',
};

/** Hardly any two sessions have the same; those that do are grouped, too. */
const sessionKey = 'toUInt32(toUInt128(session_id))';
/** Short lists are sorted in half the time of long ones. */
const slices = 4_096;

/**
 * A condition on rows of `table`: it holds for all of a session with several rows on these days, and for few others.
 * Sorting numbers takes half the time of counting the rows of each session.
 */
export function severalRowsSql(
  table: 'visits' | 'visit_entries',
  { project }: Question,
  days: string,
): string {
  const rows = `SELECT ${sessionKey} AS key FROM ${table} WHERE project_id = ${project} AND ${days}`;
  const sorted = `SELECT arraySort(groupArray(key)) AS keys FROM (${rows}) GROUP BY bitAnd(key, ${slices - 1})`;
  return `${sessionKey} IN (
    SELECT arrayJoin(arrayFilter((one, next) -> one = next, arrayPopBack(keys), arrayPopFront(keys))) FROM (${sorted}))`;
}
