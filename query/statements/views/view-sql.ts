// What a statement sees of a project: three views with the project's id written in. Merges are resolved when they are
// read, and of hidden and erased persons nothing is there, neither events nor visits, as in exports.

import { autoColumns, propertyMaps } from '../../../platform/clickhouse/event-columns.ts';
import { isBounceSql, isPassiveSql } from '../../insights/sources/visits/visit.ts';
import { daysAround } from '../../insights/sources/visits/visit-days.ts';
import { gonePersonsSql, mergedIdsSql } from '../../insights/sql/persons.ts';
import { eventOrderSql } from '../../insights/sql/read-events.ts';
import { everybodySql } from '../../profiles/profile-page-sql.ts';

export const viewNames = ['events', 'profiles', 'sessions'] as const;
export type ViewName = (typeof viewNames)[number];

/** Ids are random UUIDs, or a test's. */
const idPattern = /^[\w-]{1,64}$/;

/** The id as SQL. Throws where it could be anything but a text. */
function projectSql(projectId: string): string {
  if (!idPattern.test(projectId)) throw new Error('this is no id of a project');
  return `'${projectId}'`;
}

/** Each view's SELECT over the tables of the current database. */
export function viewSql(projectId: string): Readonly<Record<ViewName, string>> {
  const project = projectSql(projectId);
  return {
    events: eventsSql(project),
    profiles: profilesSql(project),
    sessions: sessionsSql(project),
  };
}

const withMerged = (project: string): string =>
  `WITH (SELECT (groupArray(profile_id), groupArray(root_id))
      FROM (SELECT profile_id, root_id ${mergedIdsSql(project)})) AS merged`;
/** Null for cookieless visitors, who have no profile. */
const rootId = (project: string): string => {
  const own = `millraceProfileHash(${project}, distinct_id)`;
  return `if(cookieless, NULL, lower(hex(transform(${own}, merged.1, merged.2, ${own}))))`;
};
const living = (project: string): string =>
  `project_id = ${project} AND (cookieless OR profile_key NOT IN ${gonePersonsSql(project)})`;

function eventsSql(project: string): string {
  const columns = [
    ...['event_id', 'kind', 'distinct_id'],
    `${rootId(project)} AS profile_id`,
    ...['session_id', 'occur_time', 'receive_time', 'cookieless'],
    ...autoColumns.map(({ column }) => column),
    ...propertyMaps.map(({ column }) => column),
  ];
  return `${withMerged(project)} SELECT ${columns.join(', ')} FROM events WHERE ${living(project)}`;
}

/** Named persons and anonymous ones. */
function profilesSql(project: string): string {
  const columns = [
    'lower(hex(id)) AS profile_id',
    "nullIf(external_id, '') AS external_id",
    ...['anonymous', 'created AS create_time', 'updated AS update_time'],
    "CAST(traits, 'Map(String, String)') AS traits",
    'if(has_events, first_seen, NULL) AS first_seen',
    'if(has_events, last_seen, NULL) AS last_seen',
    ...['total_events', 'pageviews', 'sessions', 'browser', 'browser_version', 'os', 'os_version'],
    ...['device', 'country', 'region', 'city', 'toBool(bot) AS bot'],
  ];
  return `SELECT ${columns.join(', ')} FROM ${everybodySql(project, 'profile_activity')} WHERE visible`;
}

/** What a visit's first event tells. */
const ofFirstEvent = [
  ...['channel', 'referrer', 'referrer_domain', 'utm_source', 'utm_medium', 'utm_campaign'],
  ...['country', 'region', 'city', 'browser', 'os', 'device_type'],
];

/** Visits as docs/insights.md defines them. */
function sessionsSql(project: string): string {
  const events = `SELECT session_id, toDate(occur_time) AS day, occur_time, kind, pathname, cookieless, distinct_id,
      ${ofFirstEvent.join(', ')}, ${eventOrderSql} AS event_order, bool_properties['$bot'] AS is_bot
    FROM events WHERE ${living(project)}`;
  const several = `session_id IN (SELECT session_id FROM events WHERE ${living(project)}
      GROUP BY session_id HAVING toDate(min(occur_time)) != toDate(max(occur_time)))`;
  const columns = [
    'session_id',
    `argMaxIf(distinct_id, event_order, NOT cookieless) AS known_id`,
    'argMax(distinct_id, event_order) AS last_id',
    'countIf(NOT cookieless) AS known_events',
    ...['min(occur_time) AS start_time', 'max(occur_time) AS end_time', 'count() AS event_count'],
    "countIf(kind = 'page_view') AS view_count",
    `countIf(${isPassiveSql}) AS passive_count`,
    "argMinIf(pathname, event_order, kind = 'page_view') AS entry_page",
    "argMaxIf(pathname, event_order, kind = 'page_view') AS exit_page",
    'max(cookieless) AS has_cookieless',
    'max(is_bot) AS has_bot',
    ...ofFirstEvent.map((column) => `argMin(${column}, event_order) AS first_${column}`),
  ];
  const visits = `SELECT ${columns.join(', ')} FROM (${events}) ${daysAround.join(several)}
    GROUP BY ${daysAround.by} HAVING ${daysAround.isVisit}`;
  const own = `millraceProfileHash(${project}, known_id)`;
  return `${withMerged(project)} SELECT session_id, if(known_events > 0, known_id, last_id) AS distinct_id,
      if(known_events > 0, lower(hex(transform(${own}, merged.1, merged.2, ${own}))), NULL) AS profile_id,
      start_time, end_time, dateDiff('millisecond', start_time, end_time) / 1000 AS duration_seconds,
      event_count AS events, view_count AS views, entry_page, exit_page,
      toBool(${isBounceSql('event_count', 'view_count', 'passive_count')}) AS is_bounce,
      has_cookieless AS cookieless, has_bot AS bot,
      ${ofFirstEvent.map((column) => `first_${column} AS ${column}`).join(', ')}
    FROM (${visits})`;
}
