// Days of a time zone that are kept for a question of their users: how many profiles sent such events, as a cell, and
// which ones. No merge changes them. A question adds up nothing but the profiles that are merged or deleted, which are
// few: each of the others is a user of its own.

import { dayMs } from '../../../platform/clock.ts';
import { AggregationType, Granularity } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { EventCondition } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import { changedKeysSql } from '../sql/persons.ts';
import { readEventsSql } from '../sql/read-events.ts';
import {
  bucketsToKeep,
  daysAroundThoseToKeep,
  daysOfQuestion,
  daysOfWholeBuckets,
  daysToKeep,
  editionsToKeep,
  insertCellsSql,
  keptCellsSql,
  keptEditions,
  keyOf,
  listDaysSql,
  type QuestionDays,
  wholeBuckets,
} from './day-cells.ts';
import { boundedRows, rowsOfCell } from './kept-profile-days.ts';
import { needOf, sourceOf } from './ladder.ts';

export interface KeptActiveProfiles {
  /** SELECT of (bucket, profiles): how many were active in each bucket that is kept. */
  counts: string;
  /** SELECT of (bucket, profile_key): those of them that were ever merged or deleted. None of them is cookieless. */
  changed: string;
  /** Holds for all events of other buckets, and for few of those that are kept. */
  mayBeOther: EventCondition;
  /** Holds for a bucket that is not kept; over the start of one of the question's, in milliseconds. */
  isOther(startMs: string): string;
}

/** Has the days of a question kept; undefined where they depend on more than the events of two UTC days. */
export function keptActiveProfiles(
  question: Question,
  condition: EventCondition,
): KeptActiveProfiles | undefined {
  const days = daysOfQuestion(question);
  if (days === undefined || !isOfUsers(question) || !hasShortDays(question, days)) return undefined;
  const need = needOf(question, condition, { count: 'users a day' });
  if (sourceOf(question, need) !== 'kept_active_profiles') return undefined;
  const { project, bindings, spec } = question;
  // A bucket is of the UTC day in which it begins, and may go on in the next one.
  const reachDays = question.timezone === 'UTC' ? 0 : 1;
  const rows = rowsSql(question, condition);
  const key = keyOf(question, rows);
  question.dayCells.push({ keys: [key], reachDays, keep: keepSql(key, rows) });
  const profiles = spec.includeCookieless ? 'a + b' : 'a';
  const ownSeries = `project_id = ${project} AND series = ${bindings.bind('String', key)}`;
  return {
    counts: `SELECT moment_ms AS bucket, ${profiles} AS profiles FROM (${keptCellsSql(question, [key])}) WHERE moment_ms IN ${wholeBuckets}`,
    changed: `SELECT moment_ms AS bucket, profile_key FROM kept_active_profiles
      PREWHERE ${ownSeries} AND edition IN ${keptEditions} AND profile_key IN ${changedKeysSql(question)}
      WHERE moment_ms IN ${wholeBuckets}`,
    mayBeOther: {
      sql: `toDate(occur_time) NOT IN ${daysOfWholeBuckets}`,
      usesUser: false,
      kind: 'filtered',
    },
    isOther: (startMs) => `${startMs} NOT IN ${wholeBuckets}`,
  };
}

/** Its statement keeps no other cells: all of them would depend on the events of as many days. */
function isOfUsers({ spec, granularity }: Question): boolean {
  const isOfDays = granularity === Granularity.DAY || granularity === Granularity.UNSPECIFIED;
  return (
    isOfDays && spec.events.every(({ aggregation }) => aggregation === AggregationType.UNIQUE_USERS)
  );
}

/** Whether the question has buckets, and each ends in the UTC day after that in which it begins, or before. */
function hasShortDays({ buckets }: Question, { starts }: QuestionDays): boolean {
  return (
    buckets.length > 1 &&
    starts.every((startMs, index) => {
      const endOfNextMs = (Math.floor(startMs / dayMs) + 2) * dayMs;
      return (starts[index + 1] ?? 0) <= endOfNextMs;
    })
  );
}

/** SELECT of the profiles of each bucket that begins in `daysToKeep`. */
function rowsSql(question: Question, condition: EventCondition): string {
  const columns = {
    moment_ms: `roundDown(toUnixTimestamp64Milli(occur_time), ${bucketsToKeep})`,
    ...{ sender_key: 'profile_key', is_cookieless: 'cookieless' },
  };
  const events = readEventsSql(question, { condition, columns, days: daysAroundThoseToKeep });
  // What lies before the first of the starts is rounded up to it.
  return `SELECT moment_ms, toDate(intDiv(moment_ms, ${dayMs})) AS day, sender_key, max(is_cookieless) AS is_cookieless
    FROM (${events}) WHERE moment_ms <= toUnixTimestamp64Milli(occur_time)
      AND toDate(intDiv(moment_ms, ${dayMs})) IN ${daysToKeep} GROUP BY moment_ms, sender_key
    ${boundedRows}`;
}

function keepSql(key: string, rows: string): string[] {
  const room = `(SELECT intDiv(count(), ${rowsOfCell}) FROM kept_active_profiles
    WHERE project_id = {keep_project:String} AND series = '${key}' AND edition IN ${editionsToKeep})`;
  return [
    `INSERT INTO kept_active_profiles (project_id, series, edition, moment_ms, profile_key)
    SELECT {keep_project:String}, '${key}', ${editionsToKeep}[indexOf(${daysToKeep}, day)], moment_ms, sender_key
    FROM (${rows}) WHERE NOT is_cookieless`,
    insertCellsSql(`SELECT '${key}' AS series, moment_ms AS bucket, emptyArrayString() AS groups,
      toFloat64(countIf(NOT is_cookieless)) AS a, toFloat64(countIf(is_cookieless)) AS b, toFloat64(0) AS c, toFloat64(0) AS d
      FROM (${rows}) GROUP BY moment_ms`),
    listDaysSql(room),
  ];
}
