// SQL that ranks groups of visits, keeps the greatest and folds all others into one, for several breakdowns at once. A
// cell has the parts of all metrics, so that questions that differ in their metric are one statement.

import { groupColumn } from '../../sql/read-events.ts';

/** Columns of cells that count visits alone. */
export const noLengths = 'toInt64(0) AS duration_ms, toInt64(0) AS bounces, toInt64(0) AS events';

/** What one or several questions asked at once want to know of the same visits. */
export interface VisitPart {
  part: number;
  /** Columns of the first or last event by which the visits are grouped. */
  columns: readonly string[];
}

/**
 * SELECT of the cells of each part. `rows` have bucket, visits and the lengths; each counts for every part that `holds`
 * for it. All have `width` columns of groups, of which those that a part does not ask for are empty.
 */
export function partsSql<Part extends VisitPart>(
  rows: string,
  parts: readonly Part[],
  sql: { width: number; valueOf(column: string): string; holds(part: Part): string },
): string {
  const width = sql.width;
  const choices = parts.map((part) => {
    const texts = Array.from({ length: width }, (_, index) => {
      const column = part.columns[index];
      return column === undefined ? "''" : `concat('=', ${sql.valueOf(column)})`;
    });
    return `(toInt32(${part.part}), [${texts.join(', ')}], toUInt8(${sql.holds(part)}))`;
  });
  const groups = Array.from(
    { length: width },
    (_, index) => `choice.2[${index + 1}] AS ${groupColumn(index)},`,
  );
  return `SELECT choice.1 AS part, ${groups.join(' ')} bucket, visits, duration_ms, bounces, events
    FROM (${rows}) ARRAY JOIN [${choices.join(', ')}] AS choice WHERE choice.3`;
}

/** The columns of the groups of all parts; one at least where there are several parts: only groups keep parts apart. */
export function widthOf(parts: readonly VisitPart[]): number {
  const least = parts.length > 1 ? 1 : 0;
  return Math.max(least, ...parts.map(({ columns }) => columns.length));
}

/** Columns of a cell that add up; those of a cell. */
export const sumColumns = ['visits', 'duration_ms', 'bounces', 'events'] as const;
export const cellColumns = ['bucket', ...sumColumns] as const;
export const cellType = 'Tuple(Int64, Float64, Float64, Float64, Float64)';

/** `numberOf`: SQL for the number of a column. */
function cellSql(numberOf: (column: string) => string): string {
  const numbers = sumColumns.map((column) => `toFloat64(${numberOf(column)})`);
  return `(toInt64(bucket), ${numbers.join(', ')})`;
}

const cell = cellSql((column) => column);

export interface VisitCells {
  /** SELECT of the columns of the groups and cellColumns, and of `part` where there are groups. */
  sql: string;
  /** The number of the groups' columns. */
  groups: number;
  /** Groups that stay. */
  limit: number;
}

/**
 * Rows of (part, place, values, cells, folded) of each part's groups. `place` is from 1 by visits, then by the group's
 * values; all groups beyond the limit are one row with the place limit + 1, which stands for `folded` groups. A cell is
 * (cellColumns). Without groups each row has one cell.
 */
export function visitGroupsSql({ sql, groups, limit }: VisitCells): string {
  if (groups === 0) {
    return `SELECT toInt32(0) AS part, toUInt64(1) AS place, emptyArrayString() AS values,
      [${cellSql((column) => `sum(one.${column})`)}] AS cells, toUInt64(1) AS folded
      FROM (${sql}) AS one GROUP BY bucket`;
  }
  const columns = Array.from({ length: groups }, (_, index) => groupColumn(index));
  const names = columns.join(', ');
  const shown = `[${columns.map((name) => `toString(${name})`).join(', ')}]`;
  const weighed = `SELECT part, ${names}, groupArray(${cell}) AS cells, sum(visits) AS weight FROM (${sql}) GROUP BY part, ${names}`;
  const ranked = `SELECT *, row_number() OVER (PARTITION BY part ORDER BY weight DESC, ${names}) AS rank,
      count() OVER (PARTITION BY part) AS total FROM (${weighed})`;
  const folded = `SELECT part, least(rank, ${limit + 1}) AS place, cell.1 AS bucket, any(if(rank > ${limit}, [], ${shown})) AS shown,
      sum(cell.2) AS visits, sum(cell.3) AS duration_ms, sum(cell.4) AS bounces, sum(cell.5) AS events,
      any(if(rank > ${limit}, total - ${limit}, 1)) AS stands_for
    FROM (${ranked}) ARRAY JOIN cells AS cell GROUP BY part, place, bucket`;
  return `SELECT toInt32(part) AS part, toUInt64(place) AS place, any(shown) AS values, groupArray(${cell}) AS cells,
      toUInt64(any(stands_for)) AS folded FROM (${folded}) GROUP BY part, place`;
}
