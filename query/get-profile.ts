// ProfilesService.Get and GetByExternalId: one profile with the activity that its events add up to. Everyone whose id
// no Identify has named is a profile too, from their first event on; cookieless visitors never are. A merged id
// answers its owner.

import { create } from '@bufbuild/protobuf';
import type { ClickHouseClient } from '@clickhouse/client';
import { Code, ConnectError } from '@connectrpc/connect';
import { maxDistinctIdCodePoints } from '../platform/limits.ts';
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
import { idBytesSql, membersSql, profileIdSql } from './identity-sql.ts';
import { invalidArgument } from './invalid-argument.ts';
import type { JsonStandIns } from './json-codec.ts';
import {
  activitySql,
  fewRows,
  int64,
  profileMessage,
  readActivity,
  type StoredActivity,
  type StoredProfile,
  texts,
} from './profile-message.ts';
import { type ReadBounds, readRows } from './read-rows.ts';

// Far beyond the rows of one id, and what its events add up to.
const maxRowCharacters = 4_194_304;

export interface GetProfileOptions {
  clickhouse: Pick<ClickHouseClient, 'query'>;
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

/**
 * First who it is, then what they did: a merged id answers its owner, and only the owner's events are summed up. The
 * owner is known to be one, so both are asked at once, and again where it was merged a moment ago.
 */
async function readPerson(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  person: Person,
  deadline: Deadline,
  isOwner = false,
): Promise<FoundProfile | undefined> {
  const early = isOwner ? readPersonActivity(clickhouse, person, deadline) : undefined;
  const [identity] = await Promise.all([readIdentity(clickhouse, person, deadline), early]);
  if (person.isExternal && !identity.isNamed) return undefined;
  if (identity.rootId !== undefined) {
    const owner = { projectId: person.projectId, id: identity.rootId, isExternal: false };
    return readPerson(clickhouse, owner, deadline, true);
  }
  if (identity.isDeleted) return undefined;
  const activity = await (early ?? readPersonActivity(clickhouse, person, deadline));
  if (identity.stored !== undefined) return { stored: identity.stored, activity };
  if (activity === undefined) return undefined;
  return { stored: anonymousProfile(person.id, activity.firstReceivedMs), activity };
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

interface Identity {
  isNamed: boolean;
  isDeleted: boolean;
  /** Of the owner, where the id is merged. */
  rootId: string | undefined;
  /** Where the id is named. */
  stored: StoredProfile | undefined;
}

async function readIdentity(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  person: Person,
  deadline: Deadline,
): Promise<Identity> {
  const { asked, project, params } = bind(person);
  const sql = `SELECT edge, named, deleted, root != '', lower(hex(root_id)), lower(hex(profile_id)), distinct_id,
      mapKeys(traits), mapValues(traits), toUnixTimestamp64Milli(create_time), toUnixTimestamp64Milli(update_time)
    FROM profiles FINAL WHERE project_id = ${project} AND profile_id = ${asked} ${fewRows}`;
  const rows = await read(clickhouse, { sql, params }, { ...bounds(deadline), maxRows: 2 });
  const identity: Identity = {
    isNamed: false,
    isDeleted: false,
    rootId: undefined,
    stored: undefined,
  };
  for (const [edge, named, deleted, merged, rootId, id, distinctId, ...rest] of rows) {
    if (merged === 1) identity.rootId = String(rootId);
    if (edge === true) continue;
    identity.isNamed = named === true;
    identity.isDeleted = deleted === true;
    if (named !== true || deleted === true) continue;
    const [keys, values, createTime, updateTime] = rest;
    identity.stored = {
      id: String(id),
      externalId: String(distinctId),
      traitKeys: texts(keys),
      traitValues: texts(values),
      createTimeMs: Number(int64(createTime)),
      updateTimeMs: Number(int64(updateTime)),
    };
  }
  return identity;
}

async function readPersonActivity(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  person: Person,
  deadline: Deadline,
): Promise<StoredActivity | undefined> {
  const { asked, project, params } = bind(person);
  const sql = `SELECT ${activitySql} FROM profile_activity
    WHERE project_id = ${project} AND profile_id IN ${membersSql(project, asked)} ${fewRows}`;
  const rows = await read(clickhouse, { sql, params }, { ...bounds(deadline), maxRows: 1 });
  return readActivity(rows[0] ?? []);
}

function bind({ projectId, id, isExternal }: Person) {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const bound = bindings.bind('String', id);
  const asked = isExternal ? profileIdSql(project, bound) : idBytesSql(bound);
  return { project, asked, params: bindings.params };
}

function bounds(deadline: Deadline): Omit<ReadBounds, 'maxRows'> {
  return { deadline, maxCharacters: maxRowCharacters };
}

async function read(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  statement: Parameters<typeof readRows>[1],
  readBounds: ReadBounds,
): Promise<unknown[][]> {
  const result = await readRows(clickhouse, statement, readBounds);
  if (result.kind === 'rows') return result.rows;
  throw new ConnectError("the profile's sessions are too many to count", Code.ResourceExhausted);
}
