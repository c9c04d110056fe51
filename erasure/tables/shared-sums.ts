// Takes the events of persons out of the sums that they share with others: by rows that are added, whose numbers are
// the complement. Sums of UInt64 wrap, so that the sum of both is what the others have. No reader sees a gap, and an
// insert that is repeated under its token adds nothing.

import { autoColumns, propertyMaps } from '../../platform/clickhouse/event-columns.ts';

const names = [
  "[('event', '')]",
  ...propertyMaps.map(
    ({ column }) => `arrayMap(name -> ('${column.split('_')[0]}', name), mapKeys(${column}))`,
  ),
  `arrayFilter((name, has) -> has, [${autoColumns.map(({ property }) => `('column', '${property}')`).join(', ')}],
    [${autoColumns.map(({ column }) => `${column} != ''`).join(', ')}])`,
].join(', ');

export interface SharedSum {
  table: 'event_counts' | 'property_keys';
  /** The columns that name a sum. */
  key: string;
  /** An INSERT of the complement of the rows of `events` for which the condition holds. */
  insertSql(rows: string): string;
}

/**
 * Of a project whose names of properties were cut, those that were counted are not known: their numbers stay as they
 * are, but for the events of a kind.
 */
export const sharedSums: readonly SharedSum[] = [
  {
    table: 'event_counts',
    key: 'project_id, kind, quarter',
    insertSql: (
      rows,
    ) => `INSERT INTO event_counts (project_id, kind, quarter, events, cookieless_events)
      SELECT project_id, kind, toStartOfFifteenMinutes(occur_time) AS quarter,
        toUInt64(toUInt64(0) - count()) AS less, toUInt64(toUInt64(0) - countIf(cookieless)) AS less_cookieless
      FROM events WHERE ${rows} GROUP BY project_id, kind, quarter ORDER BY ALL`,
  },
  {
    table: 'property_keys',
    key: 'project_id, kind, property, type',
    insertSql: (
      rows,
    ) => `INSERT INTO property_keys (project_id, kind, property, type, events, last_received)
      SELECT project_id, kind, named.2 AS property, named.1 AS type, toUInt64(toUInt64(0) - count()) AS less,
        toDateTime64(0, 3, 'UTC') AS never
      FROM events ARRAY JOIN arrayConcat(${names}) AS named
      WHERE ${rows} AND (type = 'event' OR project_id NOT IN (SELECT project_id FROM property_keys WHERE type = 'cut'))
      GROUP BY project_id, kind, property, type ORDER BY ALL`,
  },
];
