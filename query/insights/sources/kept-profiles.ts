// Days of a time zone that are kept for questions of their users: which profiles sent such events, and how many, as a
// cell. No merge changes them. Users a day are these numbers, corrected by the profiles that are merged or deleted,
// which are few: each of the others is a user of its own.

import { dayMs } from '../../../platform/clock.ts';
import { Granularity } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type EventCondition, eventsWhere } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import { placeBits } from '../sql/bucket-bits.ts';
import { bucketPlaceSql } from '../sql/bucket-place.ts';
import { changedKeysSql } from '../sql/persons.ts';
import { readEventsSql, senderColumns } from '../sql/read-events.ts';
import {
  insertCellsSql,
  keepDays,
  kept,
  keptCellsSql,
  keptSeriesSql,
  listDaysSql,
  toKeep,
} from './day-cells.ts';

export interface KeptProfiles {
  /** SELECT of profile_key, cookieless and bitColumns of these buckets: a row for each profile of a kept day. */
  activity(buckets: readonly number[]): string;
  /** SELECT of (bucket, profiles): how many were active on each of these days. */
  counts: string;
  /** SELECT of (bucket, profile_key): those of them that were ever merged or deleted. None of them is cookieless. */
  changed: string;
  /** Holds for the events of other days. */
  isOther: EventCondition;
}

/** As many rows take the room of a kept cell. */
const rowsOfCell = 4;
/** Of one thread of a statement, which fails before it writes any; more are not worth their place. */
const maxRows = 4_000_000;

/** Has the days kept of the profiles that sent such events. */
export function keptProfiles(question: Question, condition: EventCondition): KeptProfiles {
  // A day of the zone is of the UTC day in which it begins, and may go on in the next one.
  const reachDays = question.timezone === 'UTC' ? 0 : 1;
  const rows = rowsSql(question, condition);
  // The rows know nothing of the question's own buckets.
  const ofDays = { ...question, buckets: [0, dayMs], granularity: Granularity.DAY };
  const key = keepDays(ofDays, rows, { keep: keepSql(rows), reachDays });
  const from = (more = ''): string => `FROM kept_active_profiles
    PREWHERE project_id = ${question.project} AND series = ${keptSeriesSql(question, key)} AND edition IN ${kept.editions}${more}
    WHERE ${isKept}`;
  const profiles = question.spec.includeCookieless ? 'a + b' : 'a';
  return {
    activity: (buckets) => {
      const place = bucketPlaceSql(question, buckets, 'moment_ms');
      return `SELECT profile_key, cookieless, ${placeBits(buckets.length)} FROM (SELECT profile_key, cookieless, ${place} AS place ${from()})`;
    },
    counts: `SELECT moment_ms AS bucket, ${profiles} AS profiles ${keptCellsSql(question, key)} AND ${isKept}`,
    changed: `SELECT moment_ms AS bucket, profile_key ${from(` AND profile_key IN ${changedKeysSql(question)}`)}`,
    isOther: eventsWhere(isOther),
  };
}

const isKept = `moment_ms >= ${kept.stretchFrom} AND moment_ms < ${kept.stretchTo}`;
const momentFrom = `fromUnixTimestamp64Milli(${kept.stretchFrom}, 'UTC')`;
const momentTo = `fromUnixTimestamp64Milli(${kept.stretchTo}, 'UTC')`;
/** The UTC days are what the engine's index knows. */
const isOther = `(toDate(occur_time) <= toDate(${momentFrom}) AND occur_time < ${momentFrom}
  OR toDate(occur_time) >= toDate(${momentTo}) AND occur_time >= ${momentTo})`;

/** SELECT of the profiles of each day of the zone that begins in `toKeep.days`. */
function rowsSql(question: Question, condition: EventCondition): string {
  const columns = {
    moment_ms: `roundDown(toUnixTimestamp64Milli(occur_time), ${toKeep.dayStarts})`,
    ...senderColumns,
  };
  const events = readEventsSql(question, { condition, columns, days: toKeep.daysAround });
  // What lies before the first of the starts is rounded up to it.
  return `SELECT moment_ms, toDate(intDiv(moment_ms, ${dayMs})) AS day, sender_key, max(is_cookieless) AS is_cookieless
    FROM (${events}) WHERE moment_ms <= toUnixTimestamp64Milli(occur_time)
      AND toDate(intDiv(moment_ms, ${dayMs})) IN ${toKeep.days} GROUP BY moment_ms, sender_key
    SETTINGS max_rows_to_group_by = ${maxRows}, group_by_overflow_mode = 'throw'`;
}

function keepSql(rows: string): string[] {
  return [
    `INSERT INTO kept_active_profiles (project_id, series, edition, moment_ms, profile_key, cookieless)
    SELECT ${toKeep.project}, ${toKeep.series}, ${toKeep.editions}[indexOf(${toKeep.days}, day)], moment_ms, sender_key, is_cookieless
    FROM (${rows})`,
    insertCellsSql(`SELECT moment_ms AS bucket, emptyArrayString() AS groups,
      toFloat64(countIf(NOT is_cookieless)) AS a, toFloat64(countIf(is_cookieless)) AS b, toFloat64(0) AS c, toFloat64(0) AS d
      FROM (${rows}) GROUP BY moment_ms`),
    listDaysSql(`(SELECT intDiv(count(), ${rowsOfCell}) FROM kept_active_profiles
      WHERE project_id = ${toKeep.project} AND series = ${toKeep.series} AND edition IN ${toKeep.editions})`),
  ];
}
