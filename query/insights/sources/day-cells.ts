// SQL for cells that are kept day by day. A cell is the numbers of one group in one bucket of a whole UTC day. A
// statement reads the cells of kept days, and counts the other days of its range itself. kept-days.ts names the kept
// days when the statement runs.

import { createHash } from 'node:crypto';
import { dayMs } from '../../../platform/clock.ts';
import { zones } from '../../../platform/zones/zones.ts';
import { Granularity } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { exactText } from '../../filters/bindings.ts';
import { eventsWhere } from '../read/event-condition.ts';
import type { DayCells, Range } from '../read/plan-notes.ts';
import type { Question } from '../read/question.ts';
import { bucketStarts } from '../read/time-buckets.ts';
import { groupValuesSql } from '../sql/ranked-groups.ts';
import { groupColumns } from '../sql/read-events.ts';
import { hasDays } from './cut.ts';

/** Placeholders of the days that a statement finds kept. */
export const kept = {
  days: '{kept:Array(Date)}',
  versions: '{kept_versions:Array(UInt64)}',
  /** A day and its version in one text, as editionOf makes it. */
  editions: '{kept_editions:Array(String)}',
  /**
   * The other days of the range, which have to be counted. Statements name the days that they read: by those that they
   * leave out, the engine's index finds five times as many rows (a granule on the edge of two days is not left out).
   */
  otherDays: '{other_days:Array(Date)}',
  /** With the one before and the one after each. */
  daysAroundOthers: '{days_around_others:Array(Date)}',
  /** Milliseconds: days of the zone that lie whole in the range and are kept. */
  stretchFrom: '{stretch_from:Int64}',
  stretchTo: '{stretch_to:Int64}',
  /** What tells series apart whose days depend on the events of more days. */
  reach: '{kept_reach:String}',
} as const;

/** Placeholders of a statement that keeps days of a series. */
export const toKeep = {
  project: '{keep_project:String}',
  series: '{keep_series:String}',
  days: '{days_to_keep:Array(Date)}',
  versions: '{versions_to_keep:Array(UInt64)}',
  editions: '{editions_to_keep:Array(String)}',
  /** With the one before and the one after each. */
  daysAround: '{days_around:Array(Date)}',
  buckets: '{kept_buckets:Array(Int64)}',
  /** When days of the zone begin. */
  dayStarts: '{day_starts:Array(Int64)}',
} as const;

/** `day` since the epoch. */
export function editionOf(day: number, version: number): string {
  return `${day} ${version}`;
}

/** The start of an event's bucket, or of its UTC day where the bucket began before; over its column occur_time. */
export const keptBucketSql = `roundDown(toUnixTimestamp64Milli(occur_time), ${toKeep.buckets})`;

/** A condition on rows of `events`: their days are not kept. */
export const notKept = eventsWhere(`toDate(occur_time) IN ${kept.otherDays}`);

/** The UTC days of a question's range whose cells may be kept. */
export interface QuestionDays extends Range {
  /** Days since the epoch, both included. */
  first: number;
  last: number;
  /** The first and the last day that have a moment in the range. */
  firstOfRange: number;
  lastOfRange: number;
  /** The boundaries of `keptBucketSql`, in milliseconds: each midnight, and where a bucket begins between. */
  buckets: readonly bigint[];
  /** When days of the zone begin, from the one in which the first day begins, to one after the last day. */
  dayStarts: readonly number[];
}

/**
 * The whole UTC days of the range, and a first or last one that the range cuts where a bucket begins: its cells are
 * either in the range or not. Undefined where the range has no days to keep.
 */
export function daysOfQuestion(question: Question): QuestionDays | undefined {
  if (!hasDays(question)) return undefined;
  const { fromMs, toMs, buckets, granularity } = question;
  const [firstOfRange, lastOfRange] = [Math.floor(fromMs / dayMs), Math.ceil(toMs / dayMs) - 1];
  const whole = { first: Math.ceil(fromMs / dayMs), last: Math.floor(toMs / dayMs) - 1 };
  const [startMs, endMs] = [firstOfRange * dayMs, (lastOfRange + 1) * dayMs];
  const startsOf = (of: Granularity): number[] =>
    bucketStarts(of, question, startMs, endMs + 2 * dayMs);
  const starts = buckets.length === 1 ? [] : startsOf(granularity);
  const isCut = (ms: number): boolean => starts.includes(ms);
  const first = isCut(fromMs) ? firstOfRange : whole.first;
  const last = isCut(toMs) ? lastOfRange : whole.last;
  const midnights = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * dayMs);
  const within = starts.filter((ms) => ms > first * dayMs && ms < (last + 1) * dayMs);
  const all = [...new Set([...midnights, ...within])].sort((one, other) => one - other);
  return {
    ...{ fromMs, toMs, first, last, firstOfRange, lastOfRange },
    buckets: all.map(BigInt),
    dayStarts: startsOf(Granularity.DAY),
  };
}

/** Whether buckets are made of days of the zone, each of which ends on the UTC day after its first one, or before. */
export function hasZoneDays(question: Question): boolean {
  const { granularity, buckets } = question;
  const cutsDays = granularity === Granularity.HOUR || granularity === Granularity.MINUTE;
  const { dayStarts = [] } = daysOfQuestion(question) ?? {};
  if (dayStarts.length === 0 || (cutsDays && buckets.length > 1)) return false;
  return dayStarts.every((startMs, index) => {
    const endOfNextMs = (Math.floor(startMs / dayMs) + 2) * dayMs;
    return (dayStarts[index + 1] ?? 0) <= endOfNextMs;
  });
}

/**
 * Has the days of a series kept, and returns a SELECT of those that are: (group_0, …, bucket, a, b, and `more`).
 * `cellsSql` answers the same columns over the days `toKeep.days`, with buckets by `keptBucketSql`.
 */
export function keepCells(
  question: Question,
  cellsSql: string,
  { width, bucket, more = ['c', 'd'], a = 'a', reachDays = 0 }: KeptColumns,
): string {
  const groups = width === 0 ? 'emptyArrayString()' : groupValuesSql(width);
  const [c, d = 'toFloat64(0)'] = more;
  const cells = `SELECT bucket, ${groups} AS groups, a, b, ${c} AS c, ${d} AS d FROM (${cellsSql})`;
  const room = `(SELECT count() FROM kept_cells WHERE project_id = ${toKeep.project} AND series = ${toKeep.series} AND day IN ${toKeep.days})`;
  const keep = [insertCellsSql(cells, a), listDaysSql(room)];
  const key = keepDays(question, cellsSql, { keep, reachDays });
  const names = groupColumns(width).map((name, index) => `groups[${index + 1}] AS ${name}, `);
  const others = more.map((name, place) => `, ${'cd'[place]} AS ${name}`).join('');
  return `SELECT ${names.join('')}${bucket} AS bucket, ${a} AS a, b${others} ${keptCellsSql(question, key)}`;
}

/** Notes that days of a series may be kept, and returns the series' key; `rows` is what is kept of them. */
export function keepDays(
  question: Question,
  rows: string,
  cells: Pick<DayCells, 'keep' | 'reachDays'>,
): string {
  const key = keyOf(question, rows);
  question.notes.dayCells.push({ key, ...cells });
  return key;
}

interface KeptColumns {
  /** The number of groups. */
  width: number;
  /** SQL over the column moment_ms. */
  bucket: string;
  /** One or two names; c and d unless given. */
  more?: readonly [string, string?];
  /** The column of the table in which that part is kept. */
  a?: PartColumn;
  reachDays?: number;
}

/** Of kept_cells: a number, or a sum of exact-sum.ts. */
type PartColumn = 'a' | 'sums';

/** SQL of a series' name, which says on how many days around a day all series of the statement depend. */
export function keptSeriesSql({ bindings }: Question, key: string): string {
  return `concat(${bindings.bind('String', key)}, ${kept.reach})`;
}

/** FROM and WHERE of the rows of a series in the range, on the days that are kept. */
export function keptCellsSql(question: Question, key: string): string {
  const { project, bindings, fromMs, toMs } = question;
  return `FROM kept_cells FINAL
    WHERE project_id = ${project} AND series = ${keptSeriesSql(question, key)} AND day IN ${kept.days}
      AND edition = ${kept.versions}[indexOf(${kept.days}, day)]
      AND moment_ms >= ${bindings.bind('Int64', fromMs)} AND moment_ms < ${bindings.bind('Int64', toMs)}`;
}

/** Of one statement: more groups, and longer values, are not worth their place. */
const maxCells = 50_000;
const maxGroupBytes = 200;

/**
 * Keeps cells: `sql` is a SELECT of (bucket, groups, a, b, c, d) over the days `toKeep.days`, with buckets by
 * `keptBucketSql`. The numbers of several cells are combined as the question's own are. More than `maxCells` are not
 * kept. No day is listed.
 */
export function insertCellsSql(sql: string, a: PartColumn = 'a'): string {
  const isTooMuch = `count() OVER () > ${maxCells} OR arrayExists(text -> length(text) > ${maxGroupBytes}, groups)`;
  return `INSERT INTO kept_cells (project_id, series, day, moment_ms, groups, version, edition, ${a}, b, c, d)
    SELECT ${toKeep.project}, ${toKeep.series}, toDate(intDiv(cell.bucket, ${dayMs})) AS of_day, cell.bucket, cell.groups,
      ${toKeep.versions}[indexOf(${toKeep.days}, of_day)] + throwIf(is_too_much) AS of_version, of_version,
      cell.a, cell.b, cell.c, cell.d
    FROM (SELECT *, ${isTooMuch} AS is_too_much FROM (${sql})) AS cell`;
}

/** Lists the days `toKeep.days` as kept; `cells` is SQL for the room that all of them take, in cells. */
export function listDaysSql(cells: string): string {
  return `INSERT INTO kept_days (project_id, series, day, version, cells)
    SELECT ${toKeep.project}, ${toKeep.series}, one.1, one.2, intDiv(stored, length(${toKeep.days})) + 1
    FROM (SELECT arrayJoin(arrayZip(${toKeep.days}, ${toKeep.versions})) AS one, ${cells} AS stored)`;
}

/** Of the tables: cells of an older one are not found. */
const layout = 3;

/**
 * The text with the values of its parameters, so that equal keys mean equal cells, after a change of the code too.
 * Where a UTC day is cut depends on the zone, its rules, the length of buckets, and the day that weeks begin on.
 */
function keyOf(question: Question, sql: string): string {
  const { bindings, buckets, timezone, granularity, weekStart } = question;
  const values = sql.replace(/\{(p\d+):([^}]*)\}/g, (_, name: string, type: string) =>
    JSON.stringify([type, exactText(bindings.params[name])]),
  );
  const rules = timezone === 'UTC' ? [] : [zones.versions.used];
  const weeks = granularity === Granularity.WEEK ? [weekStart] : [];
  const cut = buckets.length === 1 ? [] : [timezone, granularity, ...weeks, ...rules];
  return createHash('sha256')
    .update(JSON.stringify([layout, values, cut]))
    .digest('hex')
    .slice(0, 32);
}
