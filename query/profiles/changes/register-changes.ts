// The methods that change or erase profiles, each with the way of every read.

import type { ConnectRouter } from '@connectrpc/connect';
import type { ProfileQueue } from '../../../platform/broker/queues/profile-queue.ts';
import { ProfilesService } from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { type CallOptions, read } from '../../calls/read-call.ts';
import { answerOptions } from '../../json-codec.ts';
import { deleteProfile } from './delete-profile.ts';
import { deleteDataSubject, getDeletionRequest } from './erase-profile.ts';
import type { ErasureRequests } from './erasure-requests.ts';
import { unmergeProfile } from './unmerge-profile.ts';

export interface ProfileChangeOptions {
  /** Takes deletions and unmerges; without it there are no methods that change profiles. */
  profiles?: ProfileQueue;
  /** Without them nobody is erased. */
  erasures?: ErasureRequests;
}

export function registerProfileChanges(
  router: ConnectRouter,
  shared: CallOptions & ProfileChangeOptions,
): void {
  const { profiles, erasures } = shared;
  if (profiles === undefined) return;
  const { delete: remove, unmergeProfile: unmerge } = ProfilesService.method;
  const hiding = { profiles, ...(erasures && { erasures }) };
  router.rpc(
    remove,
    (request, context) =>
      read(shared, 'look-up', context, ({ projectId, clickhouse }, deadline) =>
        deleteProfile({ clickhouse, ...hiding }, projectId, request, deadline),
      ),
    answerOptions,
  );
  router.rpc(
    unmerge,
    (request, context) =>
      read(shared, 'look-up', context, ({ projectId, clickhouse }, deadline) =>
        unmergeProfile({ clickhouse, profiles }, projectId, request, deadline),
      ),
    answerOptions,
  );
  if (erasures !== undefined) registerErasures(router, shared, erasures);
}

function registerErasures(
  router: ConnectRouter,
  shared: CallOptions,
  erasures: ErasureRequests,
): void {
  const { deleteDataSubject: erase, getDeletionRequest: get } = ProfilesService.method;
  router.rpc(
    erase,
    (request, context) =>
      read(shared, 'look-up', context, ({ projectId, clickhouse }, deadline) =>
        deleteDataSubject({ clickhouse, erasures }, projectId, request, deadline),
      ),
    answerOptions,
  );
  router.rpc(
    get,
    (request, context) =>
      read(shared, 'look-up', context, ({ projectId }) =>
        getDeletionRequest(erasures, projectId, request),
      ),
    answerOptions,
  );
}
