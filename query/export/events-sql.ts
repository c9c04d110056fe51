// The statement of an export of events: the selection of the list of events, each event once, with the person that it
// belongs to now. Events of deleted persons are left out, as in every question.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { autoColumns, propertyMaps } from '../../platform/clickhouse/event-columns.ts';
import { TimeRangeSchema } from '../../proto/gen/common/v1/filter_pb.js';
import { readSelection } from '../activity/activity-selection.ts';
import type { Bindings } from '../filters/bindings.ts';
import { eventsOfSql, membersSql, rootSql } from '../identity/identity-sql.ts';
import { gonePersonsSql, mergedIdsSql } from '../insights/sql/persons.ts';
import type { Statement } from '../read-rows.ts';
import type { ExportAsked } from './export-request.ts';
import { type FlatNames, flatEventColumns } from './flat-columns.ts';
import { shareSql } from './profiles-sql.ts';
import { type ExportColumn, nestedSql, selectSql, textSql, uuidSql } from './written-value.ts';

const noPages = { events: [], filtersField: 'filters', pageSize: 0, pageToken: '' };

/** `flat`: the names of properties, where each has a column. Throws invalid_argument. */
export function eventsStatement(
  projectId: string,
  asked: ExportAsked,
  flat: FlatNames | undefined,
): Statement {
  const { format, fromMs, toMs, whole = asked } = asked;
  // Segments are asked of the whole range: their conditions look at no other events.
  const timeRange = create(TimeRangeSchema, {
    from: timestampFromMs(whole.fromMs),
    to: timestampFromMs(whole.toMs),
  });
  const selection = readSelection(
    projectId,
    { ...asked, ...noPages, timeRange },
    new Uint8Array(),
    asked.listed,
  );
  const { condition, persons, project, bindings } = selection;
  const conditions = [
    condition,
    ...persons.map(({ id, own }) => eventsOfSql(membersSql(project, rootSql(project, id)), own)),
    `occur_time >= fromUnixTimestamp64Milli(${bindings.bind('Int64', fromMs)}, 'UTC')`,
    `occur_time < fromUnixTimestamp64Milli(${bindings.bind('Int64', toMs)}, 'UTC')`,
    ...receivedSql(asked, bindings),
    ...(asked.share === undefined ? [] : [shareSql('event_id', asked)]),
    `(cookieless OR profile_key NOT IN ${gonePersonsSql(project)})`,
  ];
  const properties =
    flat === undefined ? propertyColumns(asked) : flatEventColumns(flat, bindings, format);
  const columns = [...ownColumns(asked), ...properties];
  // A column's alias would take the place of the column in the conditions. A join would copy every row.
  const sql = `WITH (SELECT (groupArray(profile_id), groupArray(root_id))
      FROM (SELECT profile_id, root_id ${mergedIdsSql(project)})) AS merged
    SELECT ${selectSql(columns, format)} FROM (SELECT ${stored} FROM events WHERE ${conditions.join(' AND ')})`;
  return { sql, params: bindings.params };
}

function receivedSql({ received }: ExportAsked, bindings: Bindings): string[] {
  if (received === undefined) return [];
  const moment = (ms: number): string =>
    `fromUnixTimestamp64Milli(${bindings.bind('Int64', ms)}, 'UTC')`;
  return [`receive_time >= ${moment(received.fromMs)}`, `receive_time < ${moment(received.toMs)}`];
}

const stored = [
  ...['project_id', 'event_id', 'kind', 'distinct_id', 'session_id', 'occur_time', 'receive_time'],
  'cookieless',
  ...[...autoColumns, ...propertyMaps].map(({ column }) => column),
].join(', ');

function ownColumns({ format }: ExportAsked): ExportColumn[] {
  const own = 'millraceProfileHash(project_id, distinct_id)';
  const root = `transform(${own}, merged.1, merged.2, ${own})`;
  return [
    { name: 'event_id', sql: uuidSql('event_id', format) },
    { name: 'kind', sql: textSql('kind', format) },
    { name: 'distinct_id', sql: textSql('distinct_id', format) },
    { name: 'profile_id', sql: `if(cookieless, NULL, lower(hex(${root})))` },
    { name: 'session_id', sql: uuidSql('session_id', format) },
    { name: 'occur_time', sql: 'occur_time' },
    { name: 'receive_time', sql: 'receive_time' },
    { name: 'cookieless', sql: 'cookieless' },
  ];
}

/** As the table has them: a column for each well-known text, and a map for each type. */
function propertyColumns({ format }: ExportAsked): ExportColumn[] {
  return [
    ...autoColumns.map(({ column }) => ({
      name: column,
      sql: textSql(`nullIf(${column}, '')`, format),
    })),
    ...propertyMaps.map(({ column }) => ({ name: column, sql: nestedSql(column, format) })),
  ];
}
