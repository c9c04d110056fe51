// The statements of exports of persons: what identity calls have said of them, and what their events add up to.

import { create } from '@bufbuild/protobuf';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import { ListRequestSchema } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { readTimeRange } from '../activity/activity-selection.ts';
import { type Bindings, createBindings } from '../filters/bindings.ts';
import { isEmpty } from '../filters/segment-filter.ts';
import { livingProfilesSql, profileKeySql } from '../identity/identity-sql.ts';
import { noSegments, profilesListedSql } from '../insights/segments/listed-persons.ts';
import { everybodySql } from '../profiles/profile-page-sql.ts';
import {
  always,
  type ProfileCondition,
  readProfileSelection,
} from '../profiles/profile-selection.ts';
import type { Statement } from '../read-rows.ts';
import type { ExportAsked } from './export-request.ts';
import { type FlatNames, flatTraitColumns } from './flat-columns.ts';
import { type ExportColumn, nestedSql, selectSql, textSql } from './written-value.ts';

/** Persons with an external id, created in the range. `flat`: the names of traits, where each has a column. */
export function profilesStatement(
  projectId: string,
  asked: ExportAsked,
  flat: FlatNames | undefined,
): Statement {
  const { format } = asked;
  const bindings = createBindings();
  const { sql, parts } = conditionOf(projectId, asked, bindings);
  const project = bindings.bind('String', projectId);
  const range = rangeSql('create_time', asked, bindings);
  const { filter = noSegments.filter } = asked.listed ?? {};
  // What somebody's events tell is looked up for all of them at once: a record does not know it.
  const met =
    parts?.activity === always && isEmpty(filter)
      ? `(${sql})`
      : `profile_id IN (SELECT id FROM ${everybodySql(project, 'profile_listing')} WHERE visible AND (${sql}))`;
  const columns: ExportColumn[] = [
    { name: 'profile_id', sql: 'lower(hex(profile_id))' },
    { name: 'external_id', sql: textSql('distinct_id', format) },
    { name: 'distinct_ids', sql: nestedSql('merged.ids', format) },
    { name: 'create_time', sql: 'create_time' },
    { name: 'update_time', sql: 'update_time' },
    ...(flat === undefined
      ? [{ name: 'traits', sql: nestedSql("CAST(traits, 'Map(String, String)')", format) }]
      : flatTraitColumns(flat, bindings, format)),
  ];
  return {
    sql: `SELECT ${selectSql(columns, format)}
      FROM (SELECT profile_id, distinct_id, create_time, update_time, traits
        ${livingProfilesSql(project)} AND named AND ${range} AND ${met} AND ${shareSql('profile_id', asked)}) AS person
      LEFT ANY JOIN (SELECT root_id, groupArray(distinct_id) AS ids
        FROM profiles FINAL WHERE project_id = ${project} AND edge AND root != '' GROUP BY root_id
      ) AS merged ON merged.root_id = person.profile_id`,
    params: bindings.params,
  };
}

const texts = [
  'browser',
  'browser_version',
  'os',
  'os_version',
  'device',
  'country',
  'region',
  'city',
];

/** Everybody with events, anonymous ones too, whose last event lies in the range. */
export function activityStatement(projectId: string, asked: ExportAsked): Statement {
  const { format, columns: form } = asked;
  if (form === 'flat') throw invalidArgument('columns', 'flat is for events and profiles');
  const bindings = createBindings();
  const { sql } = conditionOf(projectId, asked, bindings);
  const project = bindings.bind('String', projectId);
  const columns: ExportColumn[] = [
    { name: 'profile_id', sql: 'lower(hex(id))' },
    { name: 'external_id', sql: textSql("nullIf(external_id, '')", format) },
    { name: 'create_time', sql: 'created' },
    ...['first_seen', 'last_seen', 'total_events', 'pageviews', 'sessions'].map((name) => ({
      ...{ name, sql: name },
    })),
    ...texts.map((name) => ({ name, sql: textSql(`nullIf(toString(${name}), '')`, format) })),
    { name: 'bot', sql: 'toBool(bot)' },
  ];
  return {
    sql: `SELECT ${selectSql(columns, format)} FROM (SELECT * FROM ${everybodySql(project, 'profile_activity')}
      WHERE visible AND has_events AND ${rangeSql('last_seen', asked, bindings)} AND ${shareSql('id', asked)} AND (${sql}))`,
    params: bindings.params,
  };
}

function conditionOf(
  projectId: string,
  { filters, listed = noSegments }: ExportAsked,
  bindings: Bindings,
): ProfileCondition {
  const filterGroups = filters.length === 0 ? [] : [{ filters: [...filters] }];
  const request = create(ListRequestSchema, { filterGroups });
  const project = bindings.bind('String', projectId);
  // As in the list of profiles, which has no range: conditions look at all events.
  const read = { projectId, project, bindings, range: readTimeRange(undefined) };
  const isListed = profilesListedSql(read, listed, profileKeySql('id'));
  return readProfileSelection(projectId, request, bindings, isListed).condition;
}

function rangeSql(column: string, { fromMs, toMs }: ExportAsked, bindings: Bindings): string {
  const moment = (ms: number): string =>
    `fromUnixTimestamp64Milli(${bindings.bind('Int64', ms)}, 'UTC')`;
  return `${column} >= ${moment(fromMs)} AND ${column} < ${moment(toMs)}`;
}

/** Of an id: the same share whatever else becomes of the person or event. */
export function shareSql(column: string, { share }: Pick<ExportAsked, 'share'>): string {
  return share === undefined ? 'true' : `cityHash64(${column}) % ${share.of} = ${share.place}`;
}
