// A page of profiles in another order than the usual one. One statement looks at everybody and finds the page's ids;
// the next two read what is stored of these, because traits of everybody are a hundred times as much.

import { create } from '@bufbuild/protobuf';
import {
  type ListResponse,
  ListResponseSchema,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import type { Bindings } from '../filters/bindings.ts';
import { idBytesSql } from '../identity/identity-sql.ts';
import type { JsonStandIns } from '../json-codec.ts';
import { readActivities } from './profile-activities.ts';
import {
  encodeOrderPlace,
  type OrderPlace,
  type ProfileOrderSql,
  readOrderPlace,
} from './profile-order.ts';
import type { Read } from './profile-page.ts';
import { columns, everybodySql, everyRow } from './profile-page-sql.ts';
import {
  profileMessage,
  readProfile,
  type StoredActivity,
  type StoredProfile,
} from './stored-profile.ts';

interface OrderedPageQuery {
  projectId: string;
  /** The placeholder of the project's id. */
  project: string;
  /** SQL over the columns of everybodySql. */
  condition: string;
  /** The parameters of all three. */
  bindings: Bindings;
  order: ProfileOrderSql;
  ascending: boolean;
  after: OrderPlace | undefined;
  /** The bytes of everything that selects and orders profiles; they seal page tokens. */
  conditions: Uint8Array;
  pageSize: number;
  /** A page ends with the profile whose traits pass this. */
  maxCharacters: number;
}

type Place = OrderPlace & { isNamed: boolean };

/** Throws the errors of `read`. */
export async function orderedPage(
  read: Read,
  query: OrderedPageQuery,
  standIns: JsonStandIns | undefined,
): Promise<ListResponse> {
  const { projectId, pageSize, conditions } = query;
  const found = await readPlaces(read, query);
  const { places, records } = await readRecords(read, query, found.slice(0, pageSize));
  const last = places.at(-1);
  const hasMore = found.length > places.length;
  const response = create(ListResponseSchema, {
    nextPageToken: hasMore && last !== undefined ? encodeOrderPlace(last, conditions) : '',
  });
  const activities = await readActivities(read, projectId, places);
  response.profiles = places.flatMap(({ id, isNamed }) => {
    const activity = activities.get(id);
    // Who was deleted or merged since the first statement is no profile any more.
    const stored = records.get(id) ?? (isNamed ? undefined : anonymous(id, activity));
    return stored === undefined ? [] : [profileMessage(projectId, stored, activity, standIns)];
  });
  return response;
}

/** One place more than the page takes, where there is one. */
async function readPlaces(read: Read, query: OrderedPageQuery): Promise<Place[]> {
  const { project, condition, order, ascending, after, bindings, pageSize } = query;
  const way = ascending ? 'ASC' : 'DESC';
  const isAfter = after === undefined ? 'true' : afterSql(after, ascending, bindings);
  const table = order.readsSums ? 'profile_activity' : 'profile_listing';
  const sql = `SELECT lower(hex(id)), toString(toUInt8(is_empty)), reinterpretAsUInt64(number), hex(text), toString(toUInt8(NOT anonymous))
    FROM (
      SELECT id, anonymous, ${order.isEmpty} AS is_empty, if(is_empty, toFloat64(0), ${order.number}) AS number,
        if(is_empty, '', ${order.text}) AS text
      FROM ${everybodySql(project, table)}
      WHERE visible AND (${condition}))
    WHERE ${isAfter}
    ORDER BY is_empty, number ${way}, text ${way}, id ${way} LIMIT {maxRows:UInt32} ${everyRow}`;
  const maxRows = pageSize + 1;
  const statement = { sql, params: { ...bindings.params, maxRows } };
  const { rows } = await read(statement, maxRows);
  return rows.map((row) => ({ ...readOrderPlace(row), isNamed: row.at(-1) === '1' }));
}

function afterSql(
  { isEmpty, numberBits, textHex, id }: OrderPlace,
  ascending: boolean,
  bindings: Bindings,
): string {
  const place = [
    `reinterpretAsFloat64(${bindings.bind('UInt64', numberBits)})`,
    `unhex(${bindings.bind('String', textHex)})`,
    idBytesSql(bindings.bind('String', id)),
  ].join(', ');
  const beyond = `(number, text, id) ${ascending ? '>' : '<'} (${place})`;
  return isEmpty ? `is_empty AND ${beyond}` : `is_empty OR ${beyond}`;
}

/** The records of the named ones of `wanted`, and the first of `wanted` of which everything is known. */
async function readRecords(
  read: Read,
  { project, bindings, maxCharacters }: OrderedPageQuery,
  wanted: readonly Place[],
): Promise<{ places: readonly Place[]; records: ReadonlyMap<string, StoredProfile> }> {
  const ids = wanted.flatMap(({ id, isNamed }) => (isNamed ? [id] : []));
  const records = new Map<string, StoredProfile>();
  if (ids.length === 0) return { places: wanted, records };
  const sql = `SELECT ${columns}
    FROM (
      SELECT profile_id AS id, create_time AS created, update_time AS updated, distinct_id AS external_id, traits
      FROM profiles FINAL
      WHERE project_id = ${project} AND NOT edge AND named AND NOT deleted AND root = ''
        AND profile_id IN (SELECT ${idBytesSql('arrayJoin({ids:Array(String)})')}))
    ORDER BY indexOf({ids:Array(String)}, lower(hex(id)))`;
  const { rows, stopped } = await read({ sql, params: { ...bindings.params, ids } }, ids.length);
  let characters = 0;
  let lastId: string | undefined;
  for (const row of rows) {
    const stored = readProfile(row);
    records.set(stored.id, stored);
    lastId = stored.id;
    characters += [...stored.traitKeys, ...stored.traitValues].reduce(
      (sum, { length }) => sum + length,
      0,
    );
    if (characters >= maxCharacters) break;
  }
  const isWhole = records.size === rows.length && !stopped;
  const end = isWhole ? wanted.length : wanted.findIndex(({ id }) => id === lastId) + 1;
  return { places: wanted.slice(0, end), records };
}

/** Undefined where its events are gone since. */
function anonymous(id: string, activity: StoredActivity | undefined): StoredProfile | undefined {
  if (activity === undefined) return undefined;
  const { firstReceivedMs } = activity;
  const times = { createTimeMs: firstReceivedMs, updateTimeMs: firstReceivedMs };
  return { id, externalId: '', traitKeys: [], traitValues: [], ...times };
}
