// How days of a session make visits, and the days of a question's visits in the tables visits and visit_entries, which
// have a row for each UTC day of a session, or several until they are merged. Nearly all sessions have one row, which
// is the visit; only the others are grouped.

import { eventsWhere, every } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { bucketSql, daySql, type EventRead, momentSql } from '../../sql/read-events.ts';
import { kept, keptBucketSql, toKeep } from '../day-cells.ts';
import { visitWindow } from './visit.ts';

/** SQL for the days on which visits begin, and for the days around them that tell what these visits are. */
export interface VisitDays {
  /** Conditions on `day`: a visit may begin on it; it is one of these or of those around them. */
  ofRange: string;
  inWindow: string;
  /** Which events these days have. */
  events: Pick<EventRead, 'condition' | 'fromMs' | 'toMs' | 'days'>;
  /** A condition on a visit's first moment, where the day is one of `ofRange`, and the same for all moments. */
  isInRange(first: string): string;
  begins(first: string): string;
  /** Of a visit, over the column occur_time. */
  bucket: string;
  /** Where all visits are in one bucket, it need not be grouped by. */
  hasOneBucket: boolean;
}

/** `own` and `near` are conditions on a day. */
function daysOf(
  own: (day: string) => string,
  near: (day: string) => string,
  read: Pick<VisitDays, 'events' | 'isInRange' | 'bucket' | 'hasOneBucket'>,
): VisitDays {
  return {
    ...{ ...read, ofRange: own('day'), inWindow: near('day') },
    begins: (first) => `${read.isInRange(first)} AND ${own(`toDate(${first})`)}`,
  };
}

/** All days of the range, or those that are not kept. */
export function visitDays(question: Question, { unkept }: { unkept: boolean }): VisitDays {
  const { bindings, fromMs, toMs, buckets } = question;
  const window = visitWindow(question);
  question.notes.reads.push(window);
  const between = (day: string, startMs: number, endMs: number): string =>
    `${day} >= ${daySql(startMs, bindings)} AND ${day} <= ${daySql(endMs - 1, bindings)}`;
  const only = (day: string, days: string): string => (unkept ? ` AND ${day} IN ${days}` : '');
  const near = (day: string): string =>
    between(day, window.fromMs, window.toMs) + only(day, kept.daysAroundOthers);
  const isNear = eventsWhere(`(${near('toDate(occur_time)')})`);
  return daysOf((day) => between(day, fromMs, toMs) + only(day, kept.otherDays), near, {
    events: { condition: unkept ? isNear : every, ...window },
    isInRange: (first) =>
      `${first} >= ${momentSql(fromMs, bindings)} AND ${first} < ${momentSql(toMs, bindings)}`,
    bucket: bucketSql(question, buckets),
    hasOneBucket: buckets.length === 1,
  });
}

/** The days to keep, whatever range is asked. */
export const visitDaysToKeep: VisitDays = daysOf(
  (day) => `${day} IN ${toKeep.days}`,
  (day) => `${day} IN ${toKeep.daysAround}`,
  {
    events: { condition: every, days: toKeep.daysAround },
    isInRange: () => 'true',
    ...{ bucket: keptBucketSql, hasOneBucket: false },
  },
);

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

/** Hardly any two sessions have the same; those that do are grouped, too. SQL over the column session_id. */
const sessionKey = 'toUInt32(toUInt128(session_id))';
/** Short lists are sorted in half the time of long ones. */
const slices = 4_096;

/** A condition on rows of `table`: it holds for the rows of sessions with several on these days, and for few others. */
export function severalRowsSql(
  table: 'visits' | 'visit_entries',
  { project }: Pick<Question, 'project'>,
  days: string,
): string {
  const keys = `SELECT ${sessionKey} AS key FROM ${table} WHERE project_id = ${project} AND ${days}`;
  // Sorting numbers takes half the time of counting each.
  const sorted = `SELECT arraySort(groupArray(key)) AS keys FROM (${keys}) GROUP BY bitAnd(key, ${slices - 1})`;
  const several = `SELECT arrayJoin(arrayFilter((one, next) -> one = next, arrayPopBack(keys), arrayPopFront(keys))) FROM (${sorted})`;
  return `${sessionKey} IN (${several})`;
}
