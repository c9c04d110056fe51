// The days of a question's visits in the tables visits and visit_entries, which have a row for each UTC day of a
// session, or several until they are merged. Nearly all sessions have one row, which is the visit; only the others are
// grouped.

import { momentSql } from '../events/read-events.ts';
import type { Question } from '../question/question.ts';
import { visitMarginMs } from './visit.ts';

const dayMs = 24 * 3_600_000;
/** The last one that a Date can be. */
const latestDayMs = Date.UTC(2149, 5, 6);

/** SQL for the days of the window in which a visit's events count: a day before the range to a day after it. */
export interface VisitDays {
  /** When the window begins, and its day. */
  start: string;
  firstDay: string;
  /** When the window ends, its day, and when that day begins. */
  end: string;
  lastDay: string;
  lastDayStart: string;
  /** The window begins with a day. */
  beginsWithDay: boolean;
  /** The window ends with a day, so that nothing of `lastDay` is in it. */
  endsWithDay: boolean;
  /** A condition on `day`: one of the window. */
  inWindow: string;
  /** Conditions on `day`: a visit of the range may begin on it, and the same with the days of the window before. */
  ofRange: string;
  untilRangeEnds: string;
  /** A condition on the moment when a visit begins. */
  isInRange(first: string): string;
}

export function visitDays({ bindings, fromMs, toMs }: Question): VisitDays {
  const startMs = fromMs - visitMarginMs;
  const endMs = toMs + visitMarginMs;
  const dayOf = (ms: number): string =>
    `toDate(${momentSql(Math.min(Math.max(ms, 0), latestDayMs), bindings)})`;
  const endsWithDay = endMs % dayMs === 0;
  const [firstDay, lastDay, lastOfRange] = [dayOf(startMs), dayOf(endMs), dayOf(toMs - 1)];
  return {
    start: momentSql(startMs, bindings),
    firstDay,
    end: momentSql(endMs, bindings),
    lastDay,
    lastDayStart: momentSql(endMs - (endMs % dayMs), bindings),
    beginsWithDay: startMs % dayMs === 0,
    endsWithDay,
    inWindow: `day >= ${firstDay} AND day ${endsWithDay ? '<' : '<='} ${lastDay}`,
    ofRange: `day >= ${dayOf(fromMs)} AND day <= ${lastOfRange}`,
    untilRangeEnds: `day >= ${firstDay} AND day <= ${lastOfRange}`,
    isInRange: (first) =>
      `${first} >= ${momentSql(fromMs, bindings)} AND ${first} < ${momentSql(toMs, bindings)}`,
  };
}

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
