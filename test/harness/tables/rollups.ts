// What the tables of sums must hold, asked of the raw rows in another way than the views do it.

import type { ClickHouseClient } from '@clickhouse/client';
import { expect } from 'vitest';
import { autoColumns, propertyMaps } from '../../../platform/clickhouse/event-columns.ts';

/** A rollup's rows, and the same from `events`. */
interface Compared {
  table: string;
  rollup: string;
  raw: string;
}

const quarters =
  'arrayMap(q -> toUInt8(q), groupUniqArray((toHour(occur_time) * 60 + toMinute(occur_time)) DIV 15))';

const visitColumns = (columns: string): string => `concat(${columns.split(' ').join(", '|', ")})`;

const compared: readonly Compared[] = [
  {
    table: 'event_counts',
    rollup: `SELECT project_id, kind, toUnixTimestamp(quarter) AS at, sum(events), sum(cookieless_events)
      FROM event_counts GROUP BY project_id, kind, at`,
    raw: `SELECT project_id, kind, toUnixTimestamp(occur_time) DIV 900 * 900 AS at, count(), sum(toUInt64(cookieless))
      FROM events GROUP BY project_id, kind, at`,
  },
  {
    table: 'profile_days',
    rollup: `SELECT project_id, day, profile_key, max(cookieless), sum(events),
        arrayConcat(bitPositionsToArray(groupBitOr(morning)), arrayMap(q -> 48 + q, bitPositionsToArray(groupBitOr(evening)))) AS active
      FROM profile_days GROUP BY project_id, day, profile_key`,
    raw: `SELECT project_id, toDate(occur_time) AS day, profile_key, max(cookieless), count(), arraySort(${quarters})
      FROM events GROUP BY project_id, day, profile_key`,
  },
  {
    table: 'visits',
    rollup: `SELECT project_id, day, session_id, max(cookieless), min(first_time), max(last_time), sum(events), sum(views),
        replaceAll(substring(max(exit), 25), char(255), '|')
      FROM visits GROUP BY project_id, day, session_id`,
    raw: `SELECT project_id, toDate(occur_time) AS day, session_id, max(cookieless), min(occur_time), max(occur_time),
        count(), countIf(kind = 'page_view'),
        argMax(${visitColumns('kind pathname')}, (occur_time, toString(event_id)))
      FROM events GROUP BY project_id, day, session_id`,
  },
];

/** Of the columns that the table has: one from before a migration has fewer. */
const propertyKeys = (columns: readonly (typeof autoColumns)[number][]): Compared => ({
  table: 'property_keys',
  rollup: `SELECT project_id, kind, property, type, sum(events), max(last_received)
      FROM property_keys WHERE type != 'cut' GROUP BY project_id, kind, property, type`,
  raw: [
    `SELECT project_id, kind, '' AS property, 'event' AS type, count(), max(receive_time)
        FROM events GROUP BY project_id, kind`,
    ...propertyMaps.map(
      ({
        column,
      }) => `SELECT project_id, kind, arrayJoin(mapKeys(${column})) AS property, '${column.split('_')[0]}' AS type,
          count(), max(receive_time) FROM events GROUP BY project_id, kind, property`,
    ),
    ...columns.map(
      ({
        column,
        property,
      }) => `SELECT project_id, kind, '${property}' AS property, 'column' AS type, count(), max(receive_time)
          FROM events WHERE ${column} != '' GROUP BY project_id, kind`,
    ),
  ].join(' UNION ALL '),
});

const entryColumns =
  'kind pathname referrer_domain channel utm_source utm_medium utm_campaign country browser os device_type';
const firstEvents = `SELECT project_id, toDate(occur_time) AS day, session_id,
    argMin(${visitColumns(entryColumns)}, (occur_time, toString(event_id)))
  FROM events GROUP BY project_id, day, session_id`;

const entries: Compared = {
  table: 'visit_entries',
  rollup: `SELECT project_id, day, session_id, ${visitColumns(entryColumns)}
    FROM visit_entries FINAL`,
  raw: firstEvents,
};
/** As they were before the table visit_entries. */
const entriesInVisits: Compared = {
  table: 'visits',
  rollup: `SELECT project_id, day, session_id, replaceAll(substring(min(entry), 25), char(255), '|')
    FROM visits GROUP BY project_id, day, session_id`,
  raw: firstEvents,
};

/** Fails where a rollup has other rows than those of `events`, or none. */
export async function expectRollupsOfEvents(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  { where = 'true', hasEntriesInVisits = false } = {},
): Promise<void> {
  const named = await clickhouse.query({
    query:
      "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'events'",
    format: 'JSONEachRow',
  });
  const names = new Set((await named.json<{ name: string }>()).map(({ name }) => name));
  const keys = propertyKeys(autoColumns.filter(({ column }) => names.has(column)));
  const all = [...compared, keys, hasEntriesInVisits ? entriesInVisits : entries];
  for (const { table, rollup, raw } of all) {
    const query = `SELECT * FROM (
        (SELECT 'only in the rollup', * FROM (${rollup}) EXCEPT SELECT 'only in the rollup', * FROM (${raw}))
        UNION ALL (SELECT 'only in events', * FROM (${raw}) EXCEPT SELECT 'only in events', * FROM (${rollup})))
      WHERE ${where} LIMIT 5`;
    const result = await clickhouse.query({ query, format: 'JSONCompactEachRow' });
    expect(await result.json(), table).toEqual([]);
    const count = await clickhouse.query({
      query: `SELECT count() > 0 FROM (${rollup})`,
      format: 'JSONCompactEachRow',
    });
    expect(await count.json(), table).toEqual([[1]]);
  }
}
