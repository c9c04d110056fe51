// Visits that persons took part in: their rows are deleted, and counted anew from the events of everybody else. Few
// visits have events of two persons.

import { projectsSql } from './person-rows.ts';

/** Sessions of one statement: its text has 40 bytes for each. */
export const sessionsAtOnce = 10_000;

/**
 * The two tables, and how each is filled from events: as its view does, without the marks, which speak of whole
 * batches.
 */
export const visitTables = [
  {
    table: 'visits',
    columns:
      'project_id, day, session_id, cookieless, first_time, last_time, events, views, passive, last_view',
    select: `SELECT project_id, toDate(occur_time) AS day, session_id, max(cookieless) AS is_cookieless,
        min(occur_time) AS first_time, max(occur_time) AS last_time, count() AS events,
        countIf(kind = 'page_view') AS views,
        countIf(kind IN ('page_leave', 'scroll', 'error_occurred', 'web_vitals')) AS passive,
        maxIf(concat(reverse(reinterpretAsFixedString(toUnixTimestamp64Milli(occur_time))), UUIDToNum(event_id), '=', pathname),
          kind = 'page_view') AS last_view`,
    group: 'GROUP BY project_id, day, session_id ORDER BY ALL',
  },
  {
    table: 'visit_entries',
    columns: `project_id, day, session_id, precedence, occur_time, kind, pathname, referrer_domain, channel, utm_source,
      utm_medium, utm_campaign, country, browser, os, device_type`,
    select: `SELECT project_id, toDate(occur_time) AS day, session_id,
        bitNot(bitOr(bitShiftLeft(toUInt256(toUnixTimestamp64Milli(occur_time)), 128), toUInt256(toUInt128(event_id)))) AS precedence,
        occur_time, kind, pathname, referrer_domain, channel, utm_source, utm_medium, utm_campaign, country, browser, os,
        device_type`,
    group: 'ORDER BY ALL',
  },
] as const;

/** UUIDs are what the engine gave: nobody else's text. */
export function sessionsSql(projectIds: readonly string[], sessionIds: readonly string[]): string {
  for (const id of sessionIds) {
    if (!/^[0-9a-f-]{36}$/.test(id)) throw new Error('erasure: this is no id of a session');
  }
  return `${projectsSql(projectIds)} AND session_id IN ('${sessionIds.join("', '")}')`;
}
