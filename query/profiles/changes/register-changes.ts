// The methods that change or erase profiles, or tell all that is held of one, each with the way of every read.

import type { ConnectRouter } from '@connectrpc/connect';
import type { NatsConnection } from '../../../platform/broker/nats.ts';
import type { ProfileQueue } from '../../../platform/broker/queues/profile-queue.ts';
import type { Clock } from '../../../platform/clock.ts';
import { ProfilesService } from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { type CallOptions, read, readStream } from '../../calls/read-call.ts';
import type { CompleteUntil } from '../../insights/run/complete-until.ts';
import { answerOptions } from '../../json-codec.ts';
import { OpenStreams } from '../../open-streams.ts';
import { systemTimer } from '../../timer.ts';
import { getDataSubject } from '../subject/get-data-subject.ts';
import { deleteProfile } from './delete-profile.ts';
import { deleteDataSubject, getDeletionRequest } from './erase-profile.ts';
import type { ErasureRequests } from './erasure-requests.ts';
import { unmergeProfile } from './unmerge-profile.ts';

export interface ProfileChangeOptions {
  /** Takes deletions and unmerges; without it there are no methods that change profiles. */
  profiles?: ProfileQueue;
  /** Without them nobody is erased. */
  erasures?: ErasureRequests;
  /** Where dead letters are; without it nobody is told what is held of a person. */
  nats?: Pick<NatsConnection, 'jetstreamManager'>;
}

interface SharedOptions extends CallOptions, ProfileChangeOptions {
  clock: Clock;
  completeUntilMs: CompleteUntil;
  /** Whose a project is. */
  ownerOf?: (projectId: string) => string;
}

/** A message has a page of events, of 8 MiB at most; nobody asks for two persons at once. */
const subjectBounds = { open: 6, openOfOwner: 2, openOfProject: 2, kept: 1, stallMs: 30_000 };

export function registerProfileChanges(router: ConnectRouter, shared: SharedOptions): void {
  const { profiles, erasures, nats } = shared;
  if (nats !== undefined) registerSubjects(router, shared, nats);
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

function registerSubjects(
  router: ConnectRouter,
  shared: SharedOptions,
  nats: Pick<NatsConnection, 'jetstreamManager'>,
): void {
  const { clock, completeUntilMs, ownerOf } = shared;
  const streams = new OpenStreams(subjectBounds, systemTimer, ownerOf, 'requests for a person');
  router.rpc(
    ProfilesService.method.getDataSubject,
    (request, context) =>
      readStream({ ...shared, streams }, context, (call, startDeadline) => {
        const { projectId, clickhouse, standIns } = call;
        const attempts = call.everywhere()[0] ?? clickhouse;
        const own = { clickhouse, attempts, nats, clock, completeUntilMs, startDeadline };
        return getDataSubject(own, projectId, request, standIns);
      }),
    answerOptions,
  );
}
