// One small read of all that decides which days are kept: the events of each day, and the kept days of some series with
// their versions. Another tells how much was kept today.

import type { RowReader } from '../../../../platform/clickhouse/select-rows.ts';
import type { Deadline } from '../../../deadline.ts';
import { readRows } from '../../../read-rows.ts';
import { dateTimeSeconds } from '../stored-version.ts';
import type { Found } from './kept-parts.ts';

export interface DaysLook {
  /** Of the days from `first` to `last`, days since the epoch. */
  first: number;
  last: number;
  events: ReadonlyMap<number, number>;
  /** Days that every series has, as of their events now. */
  kept: Set<number>;
}

interface Asked {
  /** Days since the epoch, both included. */
  first: number;
  last: number;
  keys: readonly string[];
  /** A day's cells depend on so many days before and after, too. */
  reachDays: number;
}

const daySeconds = 86_400;
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
  projectId: string,
  { keys, reachDays, ...range }: Asked,
  deadline: Pick<Deadline, 'signal'>,
): Promise<DaysLook> {
  const [first, last] = [range.first - reachDays, range.last + reachDays];
  const params = {
    ...{ project: projectId, keys, first: range.first, last: range.last },
    from: dateTimeSeconds(first * daySeconds),
    to: dateTimeSeconds((last + 1) * daySeconds),
  };
  const bounds = { deadline, maxRows: rowsOfDay * (last - first + 1), maxCharacters };
  const read = await readRows(clickhouse, { sql, params }, bounds);
  if (read.kind !== 'rows') throw new Error('the engine has no memory for the sums of days');
  const numbersOf = (wanted: string): [number, number][] =>
    read.rows.flatMap(([part, day, n]) => (part === wanted ? [[Number(day), Number(n)]] : []));
  const found = { first, last, events: new Map(numbersOf('events')) };
  const isOfNow = ([day, version]: [number, number]): boolean =>
    version === versionOf(found, day, reachDays);
  const kept = numbersOf('kept').filter(isOfNow);
  return { ...found, kept: new Set(kept.map(([day]) => day)) };
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

/** The events that the cells of a day depend on. */
export function versionOf(
  { events }: Pick<DaysLook, 'events'>,
  day: number,
  reachDays: number,
): number {
  let sum = 0;
  for (let one = day - reachDays; one <= day + reachDays; one++) sum += events.get(one) ?? 0;
  return sum;
}

/** The versions of some days, in their order. */
export function versionsOf(look: DaysLook, days: Iterable<number>, reachDays: number): Found {
  return [...days]
    .sort((one, other) => one - other)
    .map((day) => ({ day, version: versionOf(look, day, reachDays) }));
}
