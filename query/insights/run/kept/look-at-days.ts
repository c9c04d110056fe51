// One small read of all that decides which days are kept: the events of each day, and the kept days of some series with
// their versions. What it tells become the parameters by which a statement finds these days, or keeps others. Another
// read tells how much was kept today.

import type { RowReader } from '../../../../platform/clickhouse/select-rows.ts';
import { dayMs, utcDateOf } from '../../../../platform/clock.ts';
import type { Deadline } from '../../../deadline.ts';
import { readRows } from '../../../read-rows.ts';
import type { Range } from '../../read/plan-notes.ts';
import { editionOf, type QuestionDays } from '../../sources/day-cells.ts';
import { dateTimeSeconds } from '../stored-version.ts';

/** Days of some series, since the epoch. */
export interface SeriesDays {
  projectId: string;
  /** Both included. */
  first: number;
  last: number;
  keys: readonly string[];
  /** A day's cells depend on so many days before and after, too. */
  reachDays: number;
}

const daySeconds = dayMs / 1_000;
/** Its events, and whether every series has it: a question of many series must not have more rows than a small read. */
const rowsOfDay = 2;
const maxCharacters = 4 * 1_048_576;
/** Cells leave two days after that, so that no listed day lacks some. */
const listedDays = 2;

const sql = `SELECT 'events' AS part, toUInt32(toDate(quarter)) AS day, sum(events) AS number FROM event_counts
    WHERE project_id = {project:String} AND quarter >= toDateTime({from:UInt32}, 'UTC') AND quarter < toDateTime({to:UInt32}, 'UTC')
    GROUP BY day
  UNION ALL SELECT 'kept', of_day, any(newest) FROM (SELECT toUInt32(kept_days.day) AS of_day, max(version) AS newest
      FROM kept_days
      WHERE project_id = {project:String} AND series IN {keys:Array(String)} AND kept_day >= toDate(now('UTC')) - ${listedDays}
        AND of_day >= {first:UInt32} AND of_day <= {last:UInt32} GROUP BY series, of_day)
    GROUP BY of_day HAVING count() = length({keys:Array(String)}) AND min(newest) = max(newest)`;

const keptTodaySql = `SELECT sum(if(project_id = {project:String}, cells, 0)), sum(cells)
  FROM kept_days WHERE kept_day = toDate(now('UTC'))`;

/** Throws as readRows does. */
export async function lookAtDays(
  clickhouse: RowReader,
  days: SeriesDays,
  deadline: Pick<Deadline, 'signal'>,
): Promise<DaysLook> {
  const { projectId: project, keys, first, last, reachDays } = days;
  const [from, to] = [first - reachDays, last + reachDays + 1];
  const seconds = {
    from: dateTimeSeconds(from * daySeconds),
    to: dateTimeSeconds(to * daySeconds),
  };
  const params = { project, keys, first, last, ...seconds };
  const bounds = { deadline, maxRows: rowsOfDay * (to - from), maxCharacters };
  const read = await readRows(clickhouse, { sql, params }, bounds);
  if (read.kind !== 'rows') throw new Error('the engine has no memory for the sums of days');
  const numbersOf = (wanted: string): [number, number][] =>
    read.rows.flatMap(([part, day, n]) => (part === wanted ? [[Number(day), Number(n)]] : []));
  return new DaysLook(days, new Map(numbersOf('events')), new Map(numbersOf('kept')));
}

type OfDays = ReadonlyMap<number, number>;

export class DaysLook {
  readonly days: SeriesDays;
  readonly #events: OfDays;
  /** The version of each day that every series has. */
  readonly #kept: OfDays;

  constructor(days: SeriesDays, events: OfDays, kept: OfDays) {
    this.days = days;
    this.#events = events;
    this.#kept = kept;
  }

  eventsOf(day: number): number {
    return this.#events.get(day) ?? 0;
  }

  /** Of the day and of those around it on which its cells depend. */
  around(day: number): number[] {
    const { reachDays } = this.days;
    return Array.from({ length: 2 * reachDays + 1 }, (_, index) => day - reachDays + index);
  }

  /** Whether every series has the day, as of its events now. */
  isKept(day: number): boolean {
    return this.#kept.get(day) === this.#versionOf(day);
  }

  /** The events that the cells of a day depend on. */
  #versionOf(day: number): number {
    return this.around(day).reduce((sum, one) => sum + this.eventsOf(one), 0);
  }

  #named(days: readonly number[]) {
    const versions = days.map((day) => this.#versionOf(day));
    const editions = days.map((day, index) => editionOf(day, versions[index] ?? 0));
    return { dates: days.map(utcDateOf), versions, editions };
  }

  /** The parameters of a statement that finds the days that are kept. */
  paramsOf(range: QuestionDays) {
    const kept = [...this.#kept.keys()].filter((day) => this.isKept(day)).sort((a, b) => a - b);
    const { dates, versions, editions } = this.#named(kept);
    const stretch = keptStretch(range, kept);
    const others = daysBeside(range, kept);
    return {
      ...{ kept: dates, kept_versions: versions, kept_editions: editions },
      kept_reach: String(this.days.reachDays),
      other_days: others.map(utcDateOf),
      days_around_others: daysAround(others).map(utcDateOf),
      ...{ stretch_from: stretch.fromMs, stretch_to: stretch.toMs },
    };
  }

  /** The parameters of the statements that keep these days, ascending. */
  paramsToKeep({ buckets, dayStarts }: QuestionDays, days: readonly number[]) {
    const { dates, versions, editions } = this.#named(days);
    return {
      ...{ days_to_keep: dates, versions_to_keep: versions, editions_to_keep: editions },
      days_around: daysAround(days).map(utcDateOf),
      ...{ kept_buckets: buckets, day_starts: dayStarts.map(BigInt) },
    };
  }
}

/** The cells that were kept today, of the project and of all. Throws as readRows does. */
export async function cellsKeptToday(
  clickhouse: RowReader,
  projectId: string,
  deadline: Pick<Deadline, 'signal'>,
): Promise<{ ofProject: number; ofAll: number }> {
  const params = { project: projectId };
  const bounds = { deadline, maxRows: 1, maxCharacters: 100 };
  const read = await readRows(clickhouse, { sql: keptTodaySql, params }, bounds);
  if (read.kind !== 'rows') throw new Error('the engine has no memory for a sum');
  const [[ofProject, ofAll] = []] = read.rows;
  return { ofProject: Number(ofProject), ofAll: Number(ofAll) };
}

/** The UTC days of the range that are not among these. */
function daysBeside(
  { firstOfRange, lastOfRange }: QuestionDays,
  days: readonly number[],
): number[] {
  const known = new Set(days);
  const length = lastOfRange - firstOfRange + 1;
  const all = Array.from({ length }, (_, index) => firstOfRange + index);
  return all.filter((day) => !known.has(day));
}

/** These, and the day before and the day after each. */
function daysAround(days: readonly number[]): number[] {
  const around = new Set(days.flatMap((day) => [Math.max(0, day - 1), day, day + 1]));
  return [...around];
}

/**
 * The longest stretch of days of the zone, one after the other, that lie whole in the range and begin on days that are
 * kept; empty where there is none. A time is told from it by two comparisons, where days one by one would be a list.
 */
function keptStretch({ fromMs, toMs, dayStarts }: QuestionDays, kept: readonly number[]): Range {
  const isKept = new Set(kept);
  let longest = { fromMs, toMs: fromMs };
  let last = longest;
  for (const [index, startMs] of dayStarts.entries()) {
    const endMs = dayStarts[index + 1] ?? Number.POSITIVE_INFINITY;
    if (startMs < fromMs || endMs > toMs || !isKept.has(Math.floor(startMs / dayMs))) continue;
    last = { fromMs: last.toMs === startMs ? last.fromMs : startMs, toMs: endMs };
    if (last.toMs - last.fromMs > longest.toMs - longest.fromMs) longest = last;
  }
  return longest;
}
