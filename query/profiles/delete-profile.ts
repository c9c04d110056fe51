// ProfilesService.Delete: asks the pipeline's writer of profiles to hide a profile, through the queue that Identify
// takes, so that both have one order. Answers once the writer has done it; writes nothing itself.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { ProfileQueue } from '../../platform/broker/profile-queue.ts';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import {
  type DeleteRequest,
  type DeleteResponse,
  DeleteResponseSchema,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { idBytesSql, profileIdSql, profileKeySql } from '../identity/identity-sql.ts';
import { readRows } from '../read-rows.ts';
import { findProfile } from './get-profile.ts';

interface DeleteProfileOptions {
  clickhouse: RowReader;
  profiles: ProfileQueue;
}

const maxRowCharacters = 65_536;

/** Throws like getProfile, and unavailable if it is not known whether the profile is hidden. */
export async function deleteProfile(
  { clickhouse, profiles }: DeleteProfileOptions,
  projectId: string,
  { id }: DeleteRequest,
  deadline: Deadline,
): Promise<DeleteResponse> {
  const { stored } = await findProfile({ clickhouse }, projectId, id, deadline);
  const distinctId =
    stored.externalId === ''
      ? await anonymousId(clickhouse, projectId, stored.id, deadline)
      : stored.externalId;
  await profiles.change(projectId, { kind: 'delete', distinctId }, deadline.signal);
  return create(DeleteResponseSchema);
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
