// ProfilesService.Get and GetByExternalId: one profile with the totals of its events. An id without an Identify is an
// anonymous profile from its first event on; a cookieless visitor never is a profile. A merged id answers its owner.
// Messages and rows are stored-profile.ts's.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import { hasMoreCodePoints, maxDistinctIdCodePoints } from '../../platform/limits.ts';
import {
  type GetByExternalIdRequest,
  type GetByExternalIdResponse,
  GetByExternalIdResponseSchema,
  type GetRequest,
  type GetResponse,
  GetResponseSchema,
  type Profile,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { idBytesSql, mergedSql, noRootSql, profileIdSql } from '../identity/identity-sql.ts';
import type { JsonStandIns } from '../json-codec.ts';
import { readRows, type Statement } from '../read-rows.ts';
import { readMergedList } from './merged-list.ts';
import type { Read } from './profile-page.ts';
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
import { addWorth, tooManyPayments } from './worth/profile-worth.ts';

// Far above one profile's row and the totals of its events.
const maxRowCharacters = 4_194_304;

interface GetProfileOptions {
  clickhouse: RowReader;
}

/** A profile that is not deleted. */
interface FoundProfile {
  stored: StoredProfile;
  activity: StoredActivity | undefined;
}

/**
 * Throws invalid_argument for an empty id; not_found for an unknown id, another project's, or a text that is no id; and
 * the client's errors.
 */
export async function getProfile(
  options: GetProfileOptions,
  projectId: string,
  { id, withWorth }: GetRequest,
  deadline: Deadline,
  standIns: JsonStandIns | undefined,
): Promise<GetResponse> {
  const found = await findProfile(options, projectId, id, deadline);
  return create(GetResponseSchema, {
    profile: await wholeProfile(options, projectId, { ...found, withWorth }, deadline, standIns),
  });
}

/** Throws like getProfile; an id that was never an externalId of Identify or Alias is not_found. */
export async function getProfileByExternalId(
  { clickhouse }: GetProfileOptions,
  projectId: string,
  { externalId, withWorth }: GetByExternalIdRequest,
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
    profile: await wholeProfile(
      { clickhouse },
      projectId,
      { ...found, withWorth },
      deadline,
      standIns,
    ),
  });
}

async function wholeProfile(
  { clickhouse }: GetProfileOptions,
  projectId: string,
  { stored, activity, withWorth }: FoundProfile & { withWorth: boolean },
  deadline: Deadline,
  standIns: JsonStandIns | undefined,
): Promise<Profile> {
  const profile = profileMessage(projectId, stored, activity, standIns);
  profile.merged = await readMergedList(clickhouse, projectId, stored, deadline);
  if (withWorth) {
    const read: Read = async (statement, maxRows) => {
      const bounds = { deadline, maxRows, maxCharacters: maxRowCharacters };
      const result = await readRows(clickhouse, statement, bounds);
      if (result.kind === 'rows') return result;
      throw new ConnectError(tooManyPayments, Code.ResourceExhausted);
    };
    await addWorth(read, projectId, [profile]);
  }
  return profile;
}

/** Finds the profile of an id, following merges; throws like getProfile. */
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

/** The same of any distinct id of the profile. Cookieless visitors have none. */
export async function findProfileOf(
  options: GetProfileOptions,
  projectId: string,
  distinctId: string,
  deadline: Deadline,
): Promise<FoundProfile> {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const sql = `SELECT lower(hex(${profileIdSql(project, bindings.bind('String', distinctId))}))`;
  const statement = { sql, params: bindings.params };
  const [id] = await readOne(options.clickhouse, statement, deadline);
  return findProfile(options, projectId, String(id), deadline);
}

/**
 * Finds the profile of an externalId. A named id is hardly ever merged into another, so that the statement reads the id
 * as a root, a fifth cheaper than looking its root up first; if it is merged, a second statement reads its root.
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
  if (record.rootId !== noRoot) return readPerson(clickhouse, projectId, record.rootId, deadline);
  return foundProfile(record, readActivity(activityColumns));
}

const noRoot = '0'.repeat(32);

/** Reads the id's root, its record and its totals in one statement: a statement costs more than its rows. */
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
  // A root other than the asked id was named, so that it has a record somewhere.
  const mayBeLanding = id !== askedId || activity === undefined;
  const record =
    readRecord(id, text) ??
    (mayBeLanding ? await readLanding(clickhouse, projectId, id, deadline) : undefined);
  if (record !== undefined) return foundProfile(record, activity);
  if (activity === undefined) return undefined;
  return { stored: anonymousProfile(id, activity.firstReceivedMs), activity };
}

/**
 * The record of an id in `profiles`, for one that its views' tables lack: a block is in `profiles` before it is in the
 * tables that views fill.
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

/** Undefined if an identity call deleted the profile. */
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

/** One row: the id in hex, its record, and the totals of the events of the id and the ids merged into it. */
function namedSql(projectId: string, externalId: string): Statement {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const asked = profileIdSql(project, bindings.bind('String', externalId));
  const sql = `WITH ${asked} AS asked SELECT lower(hex(asked)), ${restSql(project, 'asked')}`;
  return { sql, params: bindings.params };
}

/** The same row for the root of the asked id. */
function personSql(projectId: string, id: string): Statement {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const sql = `WITH ${idBytesSql(bindings.bind('String', id))} AS asked,
      (SELECT if(max(root_id) = ${noRootSql}, asked, max(root_id)) FROM profiles FINAL
        WHERE project_id = ${project} AND edge AND profile_id = asked) AS person
    SELECT lower(hex(person)), ${restSql(project, 'person')}`;
  return { sql, params: bindings.params };
}

/** One row: the record of an id in `profiles`; no row if it has none. */
function landingSql(projectId: string, id: string): Statement {
  const bindings = createBindings();
  const sql = `SELECT ${rowRecordSql} FROM profiles FINAL
    WHERE project_id = ${bindings.bind('String', projectId)} AND NOT edge
      AND profile_id = ${idBytesSql(bindings.bind('String', id))}`;
  return { sql, params: bindings.params };
}

/** The end of both statements, after the id's column. */
function restSql(project: string, id: string): string {
  return `${recordSql(id)}, ${activitySql} FROM profile_activity
    WHERE project_id = ${project}
      AND (profile_id = ${id} OR profile_id IN (SELECT profile_id ${mergedSql(project, id)})) ${fewRows}`;
}
