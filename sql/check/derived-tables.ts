// What each derived table must hold, asked of the raw rows in another way than the views do it. Comparing is
// compare-tables.ts. The tables kept_* hold numbers that may be forgotten, event_ids what memory has no room for.

import { autoColumns, propertyMaps } from '../../platform/clickhouse/event-columns.ts';

/** Two statements with the same columns, whose rows must be the same. */
export interface DerivedTable {
  table: string;
  /** Columns that name a row, in both statements. */
  keys: string;
  derived: string;
  raw: string;
}

const quarters =
  'arrayMap(q -> toUInt8(q), groupUniqArray((toHour(occur_time) * 60 + toMinute(occur_time)) DIV 15))';

const joined = (columns: string): string => `concat(${columns.split(' ').join(", '|', ")})`;

// An erasure leaves two greatest values as they were: the time of receipt of a name's last event, and a project's
// newest change. So does a project that keeps its events for some days, which says that it has deleted something.
const erasing =
  'project_id IN (SELECT project_id FROM project_changes GROUP BY project_id HAVING sum(deletions) > 0)';

const sums: readonly DerivedTable[] = [
  {
    table: 'event_counts',
    keys: 'project_id, kind, at',
    derived: `SELECT project_id, kind, toUnixTimestamp(quarter) AS at, sum(events), sum(cookieless_events)
      FROM event_counts GROUP BY project_id, kind, at HAVING sum(events) > 0`,
    raw: `SELECT project_id, kind, toUnixTimestamp(occur_time) DIV 900 * 900 AS at, count(), sum(toUInt64(cookieless))
      FROM events GROUP BY project_id, kind, at`,
  },
  {
    table: 'profile_days',
    keys: 'project_id, day, profile_key',
    derived: `SELECT project_id, day, profile_key, max(cookieless), sum(events),
        arrayConcat(bitPositionsToArray(groupBitOr(morning)), arrayMap(q -> 48 + q, bitPositionsToArray(groupBitOr(evening)))) AS active
      FROM profile_days GROUP BY project_id, day, profile_key`,
    raw: `SELECT project_id, toDate(occur_time) AS day, profile_key, max(cookieless), count(), arraySort(${quarters})
      FROM events GROUP BY project_id, day, profile_key`,
  },
];

/** The texts of last events, before those of last page views. */
const visits = (hasLastViews: boolean): DerivedTable => ({
  table: 'visits',
  keys: 'project_id, day, session_id',
  derived: `SELECT project_id, day, session_id, max(cookieless), min(first_time), max(last_time), sum(events), sum(views),
      ${hasLastViews ? 'substring(max(last_view), 25)' : `replaceAll(substring(max(exit), 25), char(255), '|')`}
    FROM visits GROUP BY project_id, day, session_id`,
  raw: `SELECT project_id, toDate(occur_time) AS day, session_id, max(cookieless), min(occur_time), max(occur_time),
      count(), countIf(kind = 'page_view'),
      ${hasLastViews ? `argMaxIf(concat('=', pathname), (occur_time, toString(event_id)), kind = 'page_view')` : `argMax(${joined('kind pathname')}, (occur_time, toString(event_id)))`}
    FROM events GROUP BY project_id, day, session_id`,
});

/** Of the columns that the table has: one from before a migration has fewer. `lastReceived`: SQL of the last time. */
const propertyKeys = (
  columns: readonly (typeof autoColumns)[number][],
  lastReceived: (time: string) => string,
): DerivedTable => ({
  table: 'property_keys',
  keys: 'project_id, kind, property, type',
  derived: `SELECT project_id, kind, property, type, sum(events), ${lastReceived('last_received')}
      FROM property_keys WHERE type != 'cut' GROUP BY project_id, kind, property, type HAVING sum(events) > 0`,
  raw: [
    `SELECT project_id, kind, '' AS property, 'event' AS type, count(), ${lastReceived('receive_time')}
        FROM events GROUP BY project_id, kind`,
    ...propertyMaps.map(
      ({
        column,
      }) => `SELECT project_id, kind, arrayJoin(mapKeys(${column})) AS property, '${column.split('_')[0]}' AS type,
          count(), ${lastReceived('receive_time')} FROM events GROUP BY project_id, kind, property`,
    ),
    ...columns.map(
      ({
        column,
        property,
      }) => `SELECT project_id, kind, '${property}' AS property, 'column' AS type, count(), ${lastReceived('receive_time')}
          FROM events WHERE ${column} != '' GROUP BY project_id, kind`,
    ),
  ].join(' UNION ALL '),
});

const entryColumns =
  'kind pathname referrer_domain channel utm_source utm_medium utm_campaign country browser os device_type';
const firstEvents = `SELECT project_id, toDate(occur_time) AS day, session_id,
    argMin(${joined(entryColumns)}, (occur_time, toString(event_id)))
  FROM events GROUP BY project_id, day, session_id`;

const entries: DerivedTable = {
  table: 'visit_entries',
  keys: 'project_id, day, session_id',
  derived: `SELECT project_id, day, session_id, ${joined(entryColumns)} FROM visit_entries FINAL`,
  raw: firstEvents,
};

/** As they were before the table visit_entries. */
const entriesInVisits: DerivedTable = {
  table: 'visits',
  keys: 'project_id, day, session_id',
  derived: `SELECT project_id, day, session_id, replaceAll(substring(min(entry), 25), char(255), '|')
    FROM visits GROUP BY project_id, day, session_id`,
  raw: firstEvents,
};

/** The tables of sums of events, of a database with these columns of `events`, `visits` and `project_changes`. */
export function rollupsOf(columns: ReadonlySet<string>): DerivedTable[] {
  const isErasing = columns.has('deletions') ? erasing : 'false';
  const keys = propertyKeys(
    autoColumns.filter(({ column }) => columns.has(column)),
    (time) => `if(${isErasing}, 0, toUnixTimestamp64Milli(max(${time})))`,
  );
  const firsts = columns.has('entry') ? entriesInVisits : entries;
  return [...sums, visits(columns.has('last_view')), keys, firsts];
}

const ofProfiles = 'lower(hex(profile_id)) AS profile';

/** The tables of profiles: what their events add up to, and the orders in which they are listed. */
export const profileTables: readonly DerivedTable[] = [
  {
    table: 'profile_activity',
    keys: 'project_id, profile',
    derived: `SELECT project_id, ${ofProfiles}, sum(total_events) AS events, sum(pageviews), uniqExactMerge(sessions),
        min(first_seen), max(last_seen), min(first_received)
      FROM profile_activity GROUP BY project_id, profile_id HAVING events > 0`,
    raw: `SELECT project_id, lower(hex(millraceProfileHash(project_id, distinct_id))) AS profile, count(),
        countIf(kind = 'page_view'), uniqExact(session_id), min(occur_time), max(occur_time), min(receive_time)
      FROM events WHERE NOT cookieless GROUP BY project_id, profile`,
  },
  {
    table: 'profile_activity (records)',
    keys: 'project_id, profile',
    derived: `SELECT project_id, ${ofProfiles}, hex(substring(max(record), 1, 8)) AS newest
      FROM profile_activity GROUP BY project_id, profile_id HAVING newest != ''`,
    raw: `SELECT project_id, ${ofProfiles}, hex(reverse(reinterpretAsFixedString(max(version))))
      FROM profiles WHERE NOT edge GROUP BY project_id, profile_id`,
  },
  {
    table: 'profile_listing',
    keys: 'project_id, profile',
    derived: `SELECT project_id, ${ofProfiles}, min(first_seen), min(first_received)
      FROM profile_listing GROUP BY project_id, profile_id`,
    raw: `SELECT project_id, lower(hex(millraceProfileHash(project_id, distinct_id))) AS profile, min(occur_time), min(receive_time)
      FROM events WHERE NOT cookieless GROUP BY project_id, profile`,
  },
  {
    table: 'profiles_by_creation',
    keys: 'project_id, profile',
    derived: `SELECT project_id, ${ofProfiles}, listed_time, distinct_id, version
      FROM profiles_by_creation FINAL WHERE live`,
    raw: `SELECT project_id, ${ofProfiles}, create_time, distinct_id, version
      FROM profiles FINAL WHERE NOT edge AND named AND NOT deleted AND root = ''`,
  },
  {
    table: 'profiles_by_root',
    keys: 'project_id, root_of, profile',
    derived: `SELECT project_id, lower(hex(root_id)) AS root_of, ${ofProfiles} FROM profiles_by_root FINAL WHERE live`,
    raw: `SELECT project_id, lower(hex(root_id)) AS root_of, ${ofProfiles} FROM profiles FINAL WHERE edge AND root != ''`,
  },
  {
    table: 'project_changes',
    keys: 'project_id',
    // A row that only says that something may have changed has no version.
    derived: `SELECT project_id, max(newest_version) AS newest FROM project_changes WHERE NOT ${erasing}
      GROUP BY project_id HAVING newest > 0`,
    raw: `SELECT project_id, max(version) FROM profiles WHERE NOT ${erasing} GROUP BY project_id`,
  },
];
