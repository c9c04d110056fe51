// ProfilesService.Get and GetByExternalId: one profile with the activity that its events add up to. Everyone whose id
// no Identify has named is a profile too, from their first event on; cookieless visitors never are. A merged id
// answers its owner.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { hasMoreCodePoints, maxDistinctIdCodePoints } from '../../platform/limits.ts';
import {
  type GetByExternalIdRequest,
  type GetByExternalIdResponse,
  GetByExternalIdResponseSchema,
  type GetRequest,
  type GetResponse,
  GetResponseSchema,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { idBytesSql, mergedSql, nobodySql, profileIdSql } from '../identity/identity-sql.ts';
import { invalidArgument } from '../invalid-argument.ts';
import type { JsonStandIns } from '../json-codec.ts';
import { readRows, type Statement } from '../read-rows.ts';
import {
  activitySql,
  fewRows,
  type IdentityRecord,
  profileMessage,
  readActivity,
  readRecord,
  recordSql,
  rowRecordSql,
  type StoredActivity,
  type StoredProfile,
} from './stored-profile.ts';

// Far beyond the rows of one id, and what its events add up to.
const maxRowCharacters = 4_194_304;

interface GetProfileOptions {
  clickhouse: RowReader;
}

/** A profile that can be read. */
interface FoundProfile {
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
  if (hasMoreCodePoints(externalId, maxDistinctIdCodePoints)) {
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
  const [hex, text, ...activityColumns] = await readOne(clickhouse, statement, deadline);
  const id = String(hex);
  const record = readRecord(id, text) ?? (await readLanding(clickhouse, projectId, id, deadline));
  if (record === undefined || !record.named) return undefined;
  if (record.rootId !== nobody) return readPerson(clickhouse, projectId, record.rootId, deadline);
  return foundProfile(record, readActivity(activityColumns));
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
  const [personId, text, ...activityColumns] = row;
  const id = String(personId);
  const activity = readActivity(activityColumns);
  // Whom others are merged into was named.
  const mayBeLanding = id !== askedId || activity === undefined;
  const record =
    readRecord(id, text) ??
    (mayBeLanding ? await readLanding(clickhouse, projectId, id, deadline) : undefined);
  if (record !== undefined) return foundProfile(record, activity);
  if (activity === undefined) return undefined;
  return { stored: anonymousProfile(id, activity.firstReceivedMs), activity };
}

/**
 * The record of an id as `profiles` has it, where it is nowhere else: a block is there before it is in what its views
 * feed.
 */
async function readLanding(
  clickhouse: RowReader,
  projectId: string,
  id: string,
  deadline: Deadline,
): Promise<IdentityRecord | undefined> {
  const [text = ''] = await readOne(clickhouse, landingSql(projectId, id), deadline);
  return readRecord(id, text);
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

/** Undefined where an identity call deleted it. */
function foundProfile(
  { deleted, stored }: IdentityRecord,
  activity: StoredActivity | undefined,
): FoundProfile | undefined {
  return deleted ? undefined : { stored, activity };
}

function anonymousProfile(id: string, firstReceivedMs: number): StoredProfile {
  return {
    id,
    externalId: '',
    traitKeys: [],
    traitValues: [],
    createTimeMs: firstReceivedMs,
    updateTimeMs: firstReceivedMs,
  };
}

/** One row: the id in hex, its record, and what the events of it and of those merged into it add up to. */
function namedSql(projectId: string, externalId: string): Statement {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const asked = profileIdSql(project, bindings.bind('String', externalId));
  const sql = `WITH ${asked} AS asked SELECT lower(hex(asked)), ${restSql(project, 'asked')}`;
  return { sql, params: bindings.params };
}

/** The same of the id that answers for the asked one. */
function personSql(projectId: string, id: string): Statement {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const sql = `WITH ${idBytesSql(bindings.bind('String', id))} AS asked,
      (SELECT if(max(root_id) = ${nobodySql}, asked, max(root_id)) FROM profiles FINAL
        WHERE project_id = ${project} AND edge AND profile_id = asked) AS person
    SELECT lower(hex(person)), ${restSql(project, 'person')}`;
  return { sql, params: bindings.params };
}

/** The record of an id from its row in `profiles`; no row where it has none. */
function landingSql(projectId: string, id: string): Statement {
  const bindings = createBindings();
  const sql = `SELECT ${rowRecordSql} FROM profiles FINAL
    WHERE project_id = ${bindings.bind('String', projectId)} AND NOT edge
      AND profile_id = ${idBytesSql(bindings.bind('String', id))}`;
  return { sql, params: bindings.params };
}

/** What follows the id's own columns in either statement. */
function restSql(project: string, id: string): string {
  return `${recordSql(id)}, ${activitySql} FROM profile_activity
    WHERE project_id = ${project}
      AND (profile_id = ${id} OR profile_id IN (SELECT profile_id ${mergedSql(project, id)})) ${fewRows}`;
}
