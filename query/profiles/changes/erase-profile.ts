// ProfilesService.DeleteDataSubject and GetDeletionRequest: the first writes a request, the second tells how far it is.
// Who works on requests is erasure/'s.

import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import {
  type ErasureRecord,
  type ErasureStatus,
  erasureKey,
  sealPurpose,
} from '../../../platform/erasure/erasure-record.ts';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { hasMoreCodePoints, maxDistinctIdCodePoints } from '../../../platform/limits.ts';
import {
  ComplianceRequestStatus,
  type DeleteDataSubjectRequest,
  type DeleteDataSubjectResponse,
  DeleteDataSubjectResponseSchema,
  type GetDeletionRequestRequest,
  type GetDeletionRequestResponse,
  GetDeletionRequestResponseSchema,
} from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import type { Deadline } from '../../deadline.ts';
import { createBindings } from '../../filters/bindings.ts';
import { profileIdSql } from '../../identity/identity-sql.ts';
import { readRows } from '../../read-rows.ts';
import { distinctIdOf } from './delete-profile.ts';
import {
  type ErasureRequests,
  openRequestOf,
  readHiddenId,
  writeRequest,
} from './erasure-requests.ts';

interface EraseOptions {
  clickhouse: RowReader;
  erasures: ErasureRequests;
}

/** Throws invalid_argument where none or both ids are given, not_found for an unknown `id`, and the bucket's errors. */
export async function deleteDataSubject(
  { clickhouse, erasures }: EraseOptions,
  projectId: string,
  { externalId, id }: DeleteDataSubjectRequest,
  deadline: Deadline,
): Promise<DeleteDataSubjectResponse> {
  if (externalId === '' && id === '') throw invalidArgument('externalId', 'is required');
  if (externalId !== '' && id !== '')
    throw invalidArgument('id', 'is not for a request with externalId');
  if (hasMoreCodePoints(externalId, maxDistinctIdCodePoints)) {
    throw invalidArgument('externalId', `takes at most ${maxDistinctIdCodePoints} code points`);
  }
  const distinctId = externalId || (await distinctIdOf(clickhouse, projectId, id, deadline));
  const profileId = await profileIdOf(clickhouse, projectId, distinctId, deadline);
  const before = openRequestOf(erasures, projectId, profileId);
  if (before !== undefined) return responseOf(before);
  const requestId = randomUUID();
  const sealedId = erasures.box.seal(distinctId, sealPurpose(requestId));
  return responseOf(
    await writeRequest(erasures, {
      ...{ requestId, projectId, profileId, sealedId, status: 'pending' },
    }),
  );
}

/** Throws not_found for a request of another project, too. */
export async function getDeletionRequest(
  requests: ErasureRequests,
  projectId: string,
  { requestId }: GetDeletionRequestRequest,
): Promise<GetDeletionRequestResponse> {
  const { bucket, box } = requests;
  if (requestId === '') throw invalidArgument('requestId', 'is required');
  const hidden = readHiddenId(requests, projectId, requestId);
  if (hidden !== undefined) {
    const moment = timestampFromMs(hidden.hiddenMs);
    return create(GetDeletionRequestResponseSchema, {
      ...{ requestId, profileId: hidden.profileId, status: ComplianceRequestStatus.COMPLETED },
      ...{ requestedAt: moment, completedAt: moment },
    });
  }
  const isId = /^[0-9a-f-]{36}$/.test(requestId);
  const read = isId ? await bucket.get(erasureKey(requestId)) : undefined;
  if (read?.kind !== 'found' || read.record.projectId !== projectId) {
    throw new ConnectError('no request has this id', Code.NotFound);
  }
  const { sealedId, profileId, status, events, requestedAtMs, error } = read.record;
  const { completedAtMs, firstCompletedAtMs } = read.record;
  return create(GetDeletionRequestResponseSchema, {
    ...{ requestId, profileId, status: statuses[status], error },
    externalId: sealedId === '' ? '' : (box.open(sealedId, sealPurpose(requestId)) ?? ''),
    eventsIdentified: BigInt(events),
    requestedAt: timestampFromMs(requestedAtMs),
    ...(completedAtMs > 0 && { completedAt: timestampFromMs(completedAtMs) }),
    ...(firstCompletedAtMs !== undefined && {
      firstCompletedAt: timestampFromMs(firstCompletedAtMs),
    }),
  });
}

const statuses: Readonly<Record<ErasureStatus, ComplianceRequestStatus>> = {
  pending: ComplianceRequestStatus.PENDING,
  processing: ComplianceRequestStatus.PROCESSING,
  completed: ComplianceRequestStatus.COMPLETED,
  failed: ComplianceRequestStatus.FAILED,
};

function responseOf({ requestId, status }: ErasureRecord): DeleteDataSubjectResponse {
  return create(DeleteDataSubjectResponseSchema, { requestId, status: statuses[status] });
}

async function profileIdOf(
  clickhouse: RowReader,
  projectId: string,
  distinctId: string,
  deadline: Deadline,
): Promise<string> {
  const bindings = createBindings();
  const id = profileIdSql(bindings.bind('String', projectId), bindings.bind('String', distinctId));
  const read = await readRows(
    clickhouse,
    { sql: `SELECT lower(hex(${id}))`, params: bindings.params },
    { deadline, maxRows: 1, maxCharacters: 1_024 },
  );
  const found = read.kind === 'rows' ? read.rows[0]?.[0] : undefined;
  if (typeof found !== 'string') throw new Error('the engine answers no profile id');
  return found;
}
