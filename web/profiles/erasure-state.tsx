// How far the erasure of a person is: it stands where the person's page was, and at the same address later.

import { useEffect, useRef } from 'preact/hooks';
import { figure } from '../../platform/words/figures.ts';
import {
  ComplianceRequestStatus,
  type GetDeletionRequestResponse,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { inProject } from '../client.ts';
import { wordsOf } from '../deletions/deletion-words.ts';
import { usePoll } from '../poll.ts';
import { useResource } from '../resource.ts';
import { Time } from '../time/time.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { profilesClient } from './profiles-client.ts';

const pollMs = 1_000;

export function ErasureState({ projectId, requestId }: { projectId: string; requestId: string }) {
  const found = useResource(`profile erasure ${projectId} ${requestId}`, (end) =>
    profilesClient.getDeletionRequest({ requestId }, inProject(projectId, end)),
  );
  usePoll(pollMs, () => {
    if (found.data && isUnderWay(found.data) && !found.isLoading) found.reload();
  });
  const title = useRef<HTMLHeadingElement>(null);
  // What was pressed is gone: whoever works by keyboard goes on here.
  useEffect(() => title.current?.focus(), []);
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1} ref={title}>
          Erasure of a user
        </h1>
      </div>
      <Fault cause={found.error} retry={found.reload} />
      {found.isLoading && !found.data ? <Loading of="the request" /> : null}
      {found.data ? <Request request={found.data} /> : null}
      <p>
        <a href={`/p/${projectId}/profiles`}>All users</a>
      </p>
    </>
  );
}

function isUnderWay({ status }: GetDeletionRequestResponse): boolean {
  const { PENDING, PROCESSING } = ComplianceRequestStatus;
  return status === PENDING || status === PROCESSING;
}

function Request({ request }: { request: GetDeletionRequestResponse }) {
  const { name, tone, says } = wordsOf(request);
  return (
    <section class="card" aria-label="State of the request">
      <p class="row" aria-live="polite">
        <span class="badge" data-tone={tone}>
          {name}
        </span>
        {says}
      </p>
      {request.error ? <p class="bad-text">{request.error}</p> : null}
      <dl class="facts">
        <div>
          <dt>Request</dt>
          <dd class="row tight mono">
            {request.requestId}
            <CopyButton text={request.requestId} what="Id of the request" />
          </dd>
        </div>
        <div>
          <dt>Requested</dt>
          <dd>
            <Time at={request.requestedAt} />
          </dd>
        </div>
        {request.firstCompletedAt ? (
          <div>
            <dt>Ended first</dt>
            <dd>
              <Time at={request.firstCompletedAt} />
            </dd>
          </div>
        ) : null}
        {request.completedAt ? (
          <div>
            <dt>Ended</dt>
            <dd>
              <Time at={request.completedAt} />
            </dd>
          </div>
        ) : null}
        <div>
          <dt>Events erased</dt>
          <dd>{figure(request.eventsIdentified ?? 0n)}</dd>
        </div>
      </dl>
    </section>
  );
}
