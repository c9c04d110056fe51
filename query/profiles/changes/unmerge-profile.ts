// ProfilesService.UnmergeProfile: asks the pipeline's writer of profiles to take a merge back, through the queue that
// Identify takes, and answers once the writer has done it. What goes with an edge is pipeline/profiles/changes.ts's.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { ProfileQueue } from '../../../platform/broker/queues/profile-queue.ts';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { hasMoreCodePoints, maxDistinctIdCodePoints } from '../../../platform/limits.ts';
import {
  type UnmergeProfileRequest,
  type UnmergeProfileResponse,
  UnmergeProfileResponseSchema,
} from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import type { Deadline } from '../../deadline.ts';
import { createBindings } from '../../filters/bindings.ts';
import { profileIdSql } from '../../identity/identity-sql.ts';
import { readRows } from '../../read-rows.ts';

interface UnmergeOptions {
  clickhouse: RowReader;
  profiles: ProfileQueue;
}

/** Throws not_found where no profile owns the id, and unavailable where nobody knows whether the change is queued. */
export async function unmergeProfile(
  { clickhouse, profiles }: UnmergeOptions,
  projectId: string,
  { distinctId }: UnmergeProfileRequest,
  deadline: Deadline,
): Promise<UnmergeProfileResponse> {
  if (distinctId === '') throw invalidArgument('distinctId', 'is required');
  if (hasMoreCodePoints(distinctId, maxDistinctIdCodePoints)) {
    throw invalidArgument('distinctId', `takes at most ${maxDistinctIdCodePoints} code points`);
  }
  if (!(await isMerged(clickhouse, projectId, distinctId, deadline))) {
    throw new ConnectError('this id is merged into no profile', Code.NotFound);
  }
  await profiles.change(projectId, { kind: 'unmerge', distinctId }, deadline.signal);
  return create(UnmergeProfileResponseSchema);
}

async function isMerged(
  clickhouse: RowReader,
  projectId: string,
  distinctId: string,
  deadline: Deadline,
): Promise<boolean> {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const id = profileIdSql(project, bindings.bind('String', distinctId));
  const sql = `SELECT 1 FROM profiles FINAL
    WHERE project_id = ${project} AND edge AND profile_id = ${id} AND root != ''`;
  const result = await readRows(
    clickhouse,
    { sql, params: bindings.params },
    { deadline, maxRows: 1, maxCharacters: 1_024 },
  );
  return result.kind === 'rows' && result.rows.length > 0;
}
