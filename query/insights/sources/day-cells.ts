// SQL for cells that are kept day by day. A cell is the numbers of one group in one bucket of a whole UTC day. A
// statement reads the cells of kept days, and counts the other days of its range itself. kept-days.ts names the kept
// days when the statement runs.

import { createHash } from 'node:crypto';
import { dayMs } from '../../../platform/clock.ts';
import { zones } from '../../../platform/zones/zones.ts';
import { exactText } from '../../filters/bindings.ts';
import type { EventCondition } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import { bucketStarts, quarterMs } from '../read/time-buckets.ts';
import { groupColumn } from '../sql/read-events.ts';
import { hasDays } from './cut.ts';

/** Placeholders that a statement gets when it runs: kept days and the version of each; days to keep; their buckets. */
export const keptDays = '{kept:Array(Date)}';
/** Days that need no look: neither they nor the days beside them have to be counted. */
export const daysApart = '{days_apart:Array(Date)}';
const keptVersions = '{kept_versions:Array(UInt64)}';
export const daysToKeep = '{days_to_keep:Array(Date)}';
const versionsToKeep = '{versions_to_keep:Array(UInt64)}';
/** A day and its version in one text, as editionOf makes it. */
export const keptEditions = '{kept_editions:Array(String)}';
export const editionsToKeep = '{editions_to_keep:Array(String)}';
/** With the one before and the one after each. */
export const daysAroundThoseToKeep = '{days_around:Array(Date)}';
const keptBuckets = '{kept_buckets:Array(Int64)}';
/** Starts of a question's buckets. */
export const bucketsToKeep = '{starts_to_keep:Array(Int64)}';
/** Starts of the buckets that are kept whole. */
export const wholeBuckets = '{whole_buckets:Array(Int64)}';
/** Days whose events in the range all lie in buckets that are kept whole. */
export const daysOfWholeBuckets = '{days_of_whole_buckets:Array(Date)}';

/** `day` since the epoch. */
export function editionOf({ day, version }: { day: number; version: number }): string {
  return `${day} ${version}`;
}

/** The start of an event's bucket, or of its UTC day where the bucket began before; over its column occur_time. */
export const keptBucketSql = `roundDown(toUnixTimestamp64Milli(occur_time), ${keptBuckets})`;

/** A condition on rows of `events`: their days are not kept. */
export const notKept: EventCondition = {
  sql: `toDate(occur_time) NOT IN ${keptDays}`,
  usesUser: false,
  kind: 'filtered',
};

/** The UTC days of a question's range whose cells may be kept. */
export interface QuestionDays {
  /** The range, half-open, in milliseconds. */
  fromMs: number;
  toMs: number;
  /** Days since the epoch, both included. */
  first: number;
  last: number;
  /** The first and the last day that have a moment in the range. */
  firstOfRange: number;
  lastOfRange: number;
  /** The boundaries of `keptBucketSql`, in milliseconds: each midnight, and where a bucket begins between. */
  buckets: readonly bigint[];
  /** When buckets begin, from the one in which the first day begins; where they are days, to one after the last day. */
  starts: readonly number[];
}

/**
 * The whole UTC days of the range, and a first or last one that the range cuts where a bucket begins: its cells are
 * either in the range or not. Undefined where the range has no days to keep.
 */
export function daysOfQuestion(
  question: Pick<Question, 'fromMs' | 'toMs' | 'buckets' | 'granularity' | 'timezone'>,
): QuestionDays | undefined {
  if (!hasDays(question)) return undefined;
  const { fromMs, toMs, buckets, granularity, timezone } = question;
  const [firstOfRange, lastOfRange] = [Math.floor(fromMs / dayMs), Math.ceil(toMs / dayMs) - 1];
  const whole = { first: Math.ceil(fromMs / dayMs), last: Math.floor(toMs / dayMs) - 1 };
  const [startMs, endMs] = [firstOfRange * dayMs, (lastOfRange + 1) * dayMs];
  const starts =
    buckets.length === 1 ? [] : bucketStarts(granularity, timezone, startMs, endMs + 2 * dayMs);
  // Kept days of profiles know quarters of an hour.
  const isCut = (ms: number): boolean => ms % quarterMs === 0 && starts.includes(ms);
  const first = isCut(fromMs) ? firstOfRange : whole.first;
  const last = isCut(toMs) ? lastOfRange : whole.last;
  const midnights = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * dayMs);
  const within = starts.filter((ms) => ms > first * dayMs && ms < (last + 1) * dayMs);
  const all = [...new Set([...midnights, ...within])].sort((one, other) => one - other);
  return {
    ...{ fromMs, toMs, first, last, firstOfRange, lastOfRange, starts },
    buckets: all.map(BigInt),
  };
}

/**
 * Has the days of a series kept, and returns a SELECT of those that are: (group_0, …, bucket, a, b, c, d). `cellsSql`
 * answers the same columns over the days `daysToKeep`, with buckets by `keptBucketSql`. `bucket` is SQL over the column
 * occur_time. `a` is the column of the table in which that part is kept.
 */
export function keepCells(
  question: Question,
  cellsSql: string,
  { width, bucket, a = 'a' }: KeptColumns,
): string {
  const key = keyOf(question, cellsSql);
  const places = Array.from({ length: width }, (_, index) => index);
  const texts = places.map((index) => `toString(${groupColumn(index)})`).join(', ');
  const groups = width === 0 ? 'emptyArrayString()' : `[${texts}]`;
  question.dayCells.push({
    keys: [key],
    keep: keepCellsSql(
      `SELECT '${key}' AS series, bucket, ${groups} AS groups, a, b, c, d FROM (${cellsSql})`,
      a,
    ),
    reachDays: 0,
  });
  const names = places.map((index) => `groups[${index + 1}] AS ${groupColumn(index)}, `).join('');
  return `SELECT ${names}${bucket} AS bucket, ${a} AS a, b, c, d FROM (${keptCellsSql(question, [key])})`;
}

interface KeptColumns {
  /** The number of groups. */
  width: number;
  bucket: string;
  a?: PartColumn;
}

/** Of kept_cells: a number, or a sum of exact-sum.ts. */
type PartColumn = 'a' | 'sums';

/** Rows of kept_cells of some series in the range, on the days that are kept. */
export function keptCellsSql(
  { project, bindings, fromMs, toMs }: Question,
  keys: readonly string[],
): string {
  return `SELECT *, fromUnixTimestamp64Milli(moment_ms, 'UTC') AS occur_time FROM kept_cells FINAL
    WHERE project_id = ${project} AND series IN ${bindings.bind('Array(String)', keys)} AND day IN ${keptDays}
      AND edition = ${keptVersions}[indexOf(${keptDays}, day)]
      AND moment_ms >= ${bindings.bind('Int64', fromMs)} AND moment_ms < ${bindings.bind('Int64', toMs)}`;
}

/** Of one statement: more groups, and longer values, are not worth their place. */
const maxCells = 50_000;
const maxGroupBytes = 200;

const project = '{keep_project:String}';
const series = '{keep_series:Array(String)}';

/**
 * The statements that keep cells: `sql` is a SELECT of (series, bucket, groups, a, b, c, d) over the days `daysToKeep`,
 * with buckets by `keptBucketSql`. The numbers of several cells are combined as the question's own are. More than
 * `maxCells` are not kept.
 */
export function keepCellsSql(sql: string, a?: PartColumn): string[] {
  const cells = `(SELECT count() FROM kept_cells WHERE project_id = ${project} AND series IN ${series} AND day IN ${daysToKeep})`;
  return [insertCellsSql(sql, a), listDaysSql(cells)];
}

/** The first of these statements: no day is listed. */
export function insertCellsSql(sql: string, a: PartColumn = 'a'): string {
  const isTooMuch = `count() OVER () > ${maxCells} OR arrayExists(text -> length(text) > ${maxGroupBytes}, groups)`;
  return `INSERT INTO kept_cells (project_id, series, day, moment_ms, groups, version, edition, ${a}, b, c, d)
    SELECT ${project}, cell.series, toDate(intDiv(cell.bucket, ${dayMs})) AS of_day, cell.bucket, cell.groups,
      ${versionsToKeep}[indexOf(${daysToKeep}, of_day)] + throwIf(is_too_much) AS of_version, of_version,
      cell.a, cell.b, cell.c, cell.d
    FROM (SELECT *, ${isTooMuch} AS is_too_much FROM (${sql})) AS cell`;
}

/** Lists the days `daysToKeep` as kept; `cells` is SQL for the room that all of them take, in cells. */
export function listDaysSql(cells: string): string {
  return `INSERT INTO kept_days (project_id, series, day, version, cells)
    SELECT ${project}, arrayJoin(${series}), one.1, one.2, intDiv(stored, length(${daysToKeep}) * length(${series})) + 1
    FROM (SELECT arrayJoin(arrayZip(${daysToKeep}, ${versionsToKeep})) AS one, ${cells} AS stored)`;
}

/** Of the tables: cells of an older one are not found. */
const layout = 2;

/**
 * The text with the values of its parameters, so that equal keys mean equal cells, after a change of the code too.
 * Where a UTC day is cut depends on the zone, its rules and the length of buckets.
 */
export function keyOf({ bindings, buckets, timezone, granularity }: Question, sql: string): string {
  const values = sql.replace(/\{(p\d+):([^}]*)\}/g, (_, name: string, type: string) =>
    JSON.stringify([type, exactText(bindings.params[name])]),
  );
  const rules = timezone === 'UTC' ? [] : [zones.versions.used];
  const cut = buckets.length === 1 ? [] : [timezone, granularity, ...rules];
  return createHash('sha256')
    .update(JSON.stringify([layout, values, cut]))
    .digest('hex')
    .slice(0, 32);
}
