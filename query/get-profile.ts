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
import { idBytesSql, nobodySql, profileIdSql } from './identity-sql.ts';
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
  const person: Person = { projectId, id: externalId, isExternal: true };
  const found = await readPerson(clickhouse, person, deadline);
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
    ? await readPerson(clickhouse, { projectId, id, isExternal: false }, deadline)
    : undefined;
  if (found === undefined) throw new ConnectError('no profile has this id', Code.NotFound);
  return found;
}

interface Person {
  projectId: string;
  /** 32 hex digits, or the externalId. */
  id: string;
  isExternal: boolean;
}

/** One statement, as each costs more than what it reads: whose id it is, what is known of them, and what they did. */
async function readPerson(
  clickhouse: RowReader,
  person: Person,
  deadline: Deadline,
): Promise<FoundProfile | undefined> {
  const result = await readRows(clickhouse, personSql(person), {
    deadline,
    maxRows: 1,
    maxCharacters: maxRowCharacters,
  });
  if (result.kind === 'too-large') {
    throw new ConnectError("the profile's sessions are too many to count", Code.ResourceExhausted);
  }
  const [isNamed, id, known, ...activityColumns] = result.rows[0] ?? [];
  if (person.isExternal && isNamed !== true) return undefined;
  const activity = readActivity(activityColumns);
  const [row] = arraysOf(known);
  if (row !== undefined) return readKnown(String(id), row, activity);
  if (activity === undefined) return undefined;
  return { stored: anonymousProfile(String(id), activity.firstReceivedMs), activity };
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

/** What an identity call has left of an id: undefined where that is its deletion. */
function readKnown(
  id: string,
  row: readonly unknown[],
  activity: StoredActivity | undefined,
): FoundProfile | undefined {
  const [deleted, ...columns] = row;
  if (deleted === true) return undefined;
  return { stored: readProfile([id, ...columns]), activity };
}

function arraysOf(value: unknown): unknown[][] {
  if (Array.isArray(value) && value.every((row) => Array.isArray(row))) return value;
  throw new Error(`the engine answered a ${typeof value} for rows`);
}

/**
 * One row: whether the asked id itself is named, the id that answers for it, that one's row if it has any, and what
 * its events and those of all ids merged into it add up to.
 */
function personSql({ projectId, id, isExternal }: Person): Statement {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const bound = bindings.bind('String', id);
  const asked = isExternal ? profileIdSql(project, bound) : idBytesSql(bound);
  const ids = `FROM profiles FINAL WHERE project_id = ${project}`;
  const sql = `WITH ${asked} AS asked,
      (SELECT (if(max(root_id) = ${nobodySql}, asked, max(root_id)), max(named)) ${ids} AND profile_id = asked) AS found,
      found.1 AS person,
      (SELECT groupArray(profile_id) ${ids} AND edge AND root_id = person) AS members,
      (SELECT groupArray((deleted, toUnixTimestamp64Milli(create_time), toUnixTimestamp64Milli(update_time),
          distinct_id, mapKeys(traits), mapValues(traits)))
        ${ids} AND NOT edge AND (named OR deleted) AND profile_id = person) AS known
    SELECT found.2, lower(hex(person)), known, ${activitySql} FROM profile_activity
    WHERE project_id = ${project} AND profile_id IN arrayPushBack(members, person) ${fewRows}`;
  return { sql, params: bindings.params };
}
