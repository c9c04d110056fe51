// ProfilesService.Delete: asks the pipeline's writer of profiles to hide a profile, through the queue that Identify
// takes, so that both have one order. Answers once the writer has done it; writes nothing itself.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { ProfileQueue } from '../../../platform/broker/queues/profile-queue.ts';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import {
  ComplianceRequestStatus,
  type DeleteRequest,
  type DeleteResponse,
  DeleteResponseSchema,
} from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import type { Deadline } from '../../deadline.ts';
import { createBindings } from '../../filters/bindings.ts';
import { idBytesSql, profileIdSql, profileKeySql } from '../../identity/identity-sql.ts';
import { readRows } from '../../read-rows.ts';
import { findProfile } from '../get-profile.ts';
import { type ErasureRequests, hiddenId } from './erasure-requests.ts';

interface DeleteProfileOptions {
  clickhouse: RowReader;
  profiles: ProfileQueue;
  /** Without them the answer has no request. */
  erasures?: ErasureRequests;
}

const maxRowCharacters = 65_536;

/** Throws like getProfile, and unavailable if it is not known whether the profile is hidden. */
export async function deleteProfile(
  { clickhouse, profiles, erasures }: DeleteProfileOptions,
  projectId: string,
  { id }: DeleteRequest,
  deadline: Deadline,
): Promise<DeleteResponse> {
  const distinctId = await distinctIdOf(clickhouse, projectId, id, deadline);
  await profiles.change(projectId, { kind: 'delete', distinctId }, deadline.signal);
  if (erasures === undefined) return create(DeleteResponseSchema);
  const requestId = hiddenId(erasures, projectId, id);
  return create(DeleteResponseSchema, { requestId, status: ComplianceRequestStatus.COMPLETED });
}

/** The text by which events and identity calls name the profile of this id. Throws like getProfile. */
export async function distinctIdOf(
  clickhouse: RowReader,
  projectId: string,
  id: string,
  deadline: Deadline,
): Promise<string> {
  const { stored } = await findProfile({ clickhouse }, projectId, id, deadline);
  return stored.externalId === ''
    ? anonymousId(clickhouse, projectId, stored.id, deadline)
    : stored.externalId;
}

/** Finds the distinct id of an anonymous profile in its events; throws not_found if it has none left. */
async function anonymousId(
  clickhouse: RowReader,
  projectId: string,
  id: string,
  deadline: Deadline,
): Promise<string> {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const bytes = idBytesSql(bindings.bind('String', id));
  const sql = `SELECT distinct_id FROM events WHERE project_id = ${project} AND profile_key = ${profileKeySql(bytes)}
    AND NOT cookieless AND ${profileIdSql('project_id', 'distinct_id')} = ${bytes} LIMIT 1`;
  const result = await readRows(
    clickhouse,
    { sql, params: bindings.params },
    { deadline, maxRows: 1, maxCharacters: maxRowCharacters },
  );
  const found = result.kind === 'rows' ? result.rows[0]?.[0] : undefined;
  if (typeof found === 'string') return found;
  throw new ConnectError('no profile has this id', Code.NotFound);
}
