// ProfilesService.Get and GetByExternalId: one profile with the activity that its events add up to. Everyone whose id
// no Identify has named is a profile too, from their first event on; cookieless visitors never are. A merged id
// answers its owner.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { maxDistinctIdCodePoints } from '../platform/limits.ts';
import type { RowReader } from '../platform/select-rows.ts';
import {
  type GetByExternalIdRequest,
  type GetByExternalIdResponse,
  GetByExternalIdResponseSchema,
  type GetRequest,
  type GetResponse,
  GetResponseSchema,
} from '../proto/gen/shared/profiles/v1/profiles_pb.js';
import { createBindings } from './bindings.ts';
import type { Deadline } from './deadline.ts';
import { idBytesSql, mergedSql, nobodySql, profileIdSql } from './identity-sql.ts';
import { invalidArgument } from './invalid-argument.ts';
import type { JsonStandIns } from './json-codec.ts';
import {
  activitySql,
  fewRows,
  profileMessage,
  readActivity,
  readProfile,
  type StoredActivity,
  type StoredProfile,
} from './profile-message.ts';
import { readRows, type Statement } from './read-rows.ts';

// Far beyond the rows of one id, and what its events add up to.
const maxRowCharacters = 4_194_304;

export interface GetProfileOptions {
  clickhouse: RowReader;
}

/** A profile that can be read. */
export interface FoundProfile {
  stored: StoredProfile;
  activity: StoredActivity | undefined;
}

/**
 * Throws invalid_argument for an empty id and not_found for any other that names no profile of this project, be it
 * unknown, another project's, or no id at all; and what the client throws where reading fails.
 */
export async function getProfile(
  options: GetProfileOptions,
  projectId: string,
  { id }: GetRequest,
  deadline: Deadline,
  standIns: JsonStandIns | undefined,
): Promise<GetResponse> {
  const { stored, activity } = await findProfile(options, projectId, id, deadline);
  return create(GetResponseSchema, {
    profile: profileMessage(projectId, stored, activity, standIns),
  });
}

/** As getProfile; an id that was never an Identify's or Alias's externalId is not_found. */
export async function getProfileByExternalId(
  { clickhouse }: GetProfileOptions,
  projectId: string,
  { externalId }: GetByExternalIdRequest,
  deadline: Deadline,
  standIns: JsonStandIns | undefined,
): Promise<GetByExternalIdResponse> {
  if (externalId === '') throw invalidArgument('externalId', 'is required');
  if ([...externalId].length > maxDistinctIdCodePoints) {
    throw invalidArgument('externalId', `takes at most ${maxDistinctIdCodePoints} code points`);
  }
  const found = await readNamed(clickhouse, projectId, externalId, deadline);
  if (found === undefined) throw new ConnectError('no profile has this externalId', Code.NotFound);
  return create(GetByExternalIdResponseSchema, {
    profile: profileMessage(projectId, found.stored, found.activity, standIns),
  });
}

/** The profile that an id answers; throws as getProfile does. */
export async function findProfile(
  { clickhouse }: GetProfileOptions,
  projectId: string,
  id: string,
  deadline: Deadline,
): Promise<FoundProfile> {
  if (id === '') throw invalidArgument('id', 'is required');
  const found = /^[0-9a-f]{32}$/.test(id)
    ? await readPerson(clickhouse, projectId, id, deadline)
    : undefined;
  if (found === undefined) throw new ConnectError('no profile has this id', Code.NotFound);
  return found;
}

/**
 * Whom an externalId names. Who is named is hardly ever merged into another, so the statement takes the id for its own
 * person's, a fifth cheaper than finding out first; where it is another's, that person is read instead.
 */
async function readNamed(
  clickhouse: RowReader,
  projectId: string,
  externalId: string,
  deadline: Deadline,
): Promise<FoundProfile | undefined> {
  const statement = namedSql(projectId, externalId);
  const [rows, ...activityColumns] = await readOne(clickhouse, statement, deadline);
  const [row] = valuesOf(rows);
  if (row === undefined) return undefined;
  const [root, id, ...known] = valuesOf(row);
  if (root !== nobody) return readPerson(clickhouse, projectId, String(root), deadline);
  return foundProfile(String(id), known, readActivity(activityColumns));
}

const nobody = '0'.repeat(32);

/** One statement, as each costs more than what it reads: whose id it is, what is known of them, and what they did. */
async function readPerson(
  clickhouse: RowReader,
  projectId: string,
  askedId: string,
  deadline: Deadline,
): Promise<FoundProfile | undefined> {
  const row = await readOne(clickhouse, personSql(projectId, askedId), deadline);
  const [id, rows, ...activityColumns] = row;
  const [known] = valuesOf(rows);
  const activity = readActivity(activityColumns);
  if (known !== undefined) return foundProfile(String(id), valuesOf(known), activity);
  if (activity === undefined) return undefined;
  return { stored: anonymousProfile(String(id), activity.firstReceivedMs), activity };
}

async function readOne(
  clickhouse: RowReader,
  statement: Statement,
  deadline: Deadline,
): Promise<unknown[]> {
  const bounds = { deadline, maxRows: 1, maxCharacters: maxRowCharacters };
  const result = await readRows(clickhouse, statement, bounds);
  if (result.kind === 'too-large') {
    throw new ConnectError("the profile's sessions are too many to count", Code.ResourceExhausted);
  }
  return result.rows[0] ?? [];
}

/** `known` is what an identity call has left of the id: undefined where that is its deletion. */
function foundProfile(
  id: string,
  known: readonly unknown[],
  activity: StoredActivity | undefined,
): FoundProfile | undefined {
  const [deleted, ...columns] = known;
  return deleted === true ? undefined : { stored: readProfile([id, ...columns]), activity };
}

export function anonymousProfile(id: string, firstReceivedMs: number): StoredProfile {
  return {
    id,
    externalId: '',
    traitKeys: [],
    traitValues: [],
    createTimeMs: firstReceivedMs,
    updateTimeMs: firstReceivedMs,
  };
}

function valuesOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`the engine answered a ${typeof value} for a tuple or an array`);
}

// What foundProfile takes.
const knownColumns = `deleted, toUnixTimestamp64Milli(create_time), toUnixTimestamp64Milli(update_time), distinct_id,
  mapKeys(traits), mapValues(traits)`;

/**
 * One row: that of the profile, if an Identify named it, with its root and its id; and what the events of the id and of
 * those merged into it add up to.
 */
function namedSql(projectId: string, externalId: string): Statement {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const asked = profileIdSql(project, bindings.bind('String', externalId));
  const ids = `FROM profiles FINAL WHERE project_id = ${project}`;
  const sql = `WITH ${asked} AS asked
    SELECT
      (SELECT groupArray((lower(hex(root_id)), lower(hex(profile_id)), ${knownColumns}))
        ${ids} AND NOT edge AND named AND profile_id = asked),
      ${activitySql}
    FROM profile_activity
    WHERE project_id = ${project}
      AND (profile_id = asked OR profile_id IN (SELECT profile_id ${mergedSql(project, 'asked')})) ${fewRows}`;
  return { sql, params: bindings.params };
}

/**
 * One row: the id that answers for the asked one, that one's row if it has any, and what its events and those of all
 * ids merged into it add up to.
 */
function personSql(projectId: string, id: string): Statement {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const ids = `FROM profiles FINAL WHERE project_id = ${project}`;
  const sql = `WITH ${idBytesSql(bindings.bind('String', id))} AS asked,
      (SELECT if(max(root_id) = ${nobodySql}, asked, max(root_id)) ${ids} AND edge AND profile_id = asked) AS person,
      (SELECT groupArray(profile_id) ${mergedSql(project, 'person')}) AS members,
      (SELECT groupArray((${knownColumns})) ${ids} AND NOT edge AND (named OR deleted) AND profile_id = person) AS known
    SELECT lower(hex(person)), known, ${activitySql} FROM profile_activity
    WHERE project_id = ${project} AND profile_id IN arrayPushBack(members, person) ${fewRows}`;
  return { sql, params: bindings.params };
}
