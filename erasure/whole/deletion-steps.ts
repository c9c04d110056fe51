// The steps of the deletion of projects, organizations and accounts: records, what is queued, messages, rows, and a
// look whether anything is left. Each may be taken again.

import { deadLetterStream } from '../../platform/broker/streams.ts';
import {
  type DeletionStep,
  type ErasureRecord,
  quietMs,
} from '../../platform/erasure/erasure-record.ts';
import { mentions, namesOf } from '../../platform/erasure/mentions.ts';
import { webhookStreams } from '../../platform/webhooks/webhook-streams.ts';
import type { ErasureParts, StepContext, StepEnd, TakeStep } from '../erasure-parts.ts';
import { awaitQueue } from '../steps/await-queue.ts';
import { eraseMessages } from '../steps/letters.ts';
import { endAccount } from './end-account.ts';
import { endOrganization } from './end-organization.ts';
import { endProject } from './end-project.ts';
import { countRows, deleteRows, organizationsOf, projectsOf, settleRows } from './project-rows.ts';

export const deletionStepsTaken: Readonly<Record<Exclude<DeletionStep, 'look'>, TakeStep>> = {
  records: endRecords,
  stored: awaitStored,
  messages: eraseQueued,
  rows: deleteRows,
  wait: settleRows,
};

/** Rows that are left by table, and broker's records that came meanwhile are taken away. */
export async function lookAtRest(
  parts: ErasureParts,
  context: StepContext,
): Promise<Map<string, number>> {
  await endRecords(parts, context);
  return countRows(parts, context);
}

async function endRecords(parts: ErasureParts, context: StepContext): Promise<StepEnd> {
  let { batch } = context;
  let end: StepEnd = 'done';
  const onClose = async (): Promise<void> => {
    batch = { ...batch, closedAtMs: parts.clock.nowMs() };
    await context.keep(batch);
  };
  for (const request of context.requests) {
    // Each takes some hundred questions to the broker: the lease is kept.
    await context.keep(batch);
    const { requestId, status } = request;
    if (status === 'pending') await context.change(requestId, { status: 'processing' });
    if ((await endOne(parts, request, onClose)) === 'later') end = 'later';
  }
  return end;
}

async function endOne(
  parts: ErasureParts,
  request: ErasureRecord,
  onClose: () => Promise<void>,
): Promise<StepEnd> {
  const kind = request.whole?.kind;
  switch (kind) {
    case 'project':
      return endProject(parts, request, onClose);
    case 'organization':
      await endOrganization(parts, request.requestId);
      return 'done';
    case 'account':
      await endAccount(parts, request.requestId);
      return 'done';
    case undefined:
      return 'done';
    default:
      return kind satisfies never;
  }
}

/** Everything that was accepted is stored, and the writer of profiles has forgotten what it knows. */
async function awaitStored(
  parts: ErasureParts,
  context: StepContext,
  signal: AbortSignal,
): Promise<StepEnd> {
  const requests = context.requests.filter(({ projectId }) => projectId !== '');
  if (requests.length === 0) return 'done';
  const { closedAtMs } = context.batch;
  if (closedAtMs !== undefined && Math.abs(parts.clock.nowMs() - closedAtMs) < quietMs)
    return 'later';
  if ((await awaitQueue(parts, { ...context, requests })) === 'later') return 'later';
  for (const { projectId } of requests) {
    await parts.profiles.change(projectId, { kind: 'forget' }, signal);
  }
  return 'done';
}

/** Dead letters, deliveries that wait, and attempts on their way to the log. */
async function eraseQueued({ nats }: ErasureParts, context: StepContext): Promise<StepEnd> {
  const ids = [...projectsOf(context), ...organizationsOf(context)];
  if (ids.length === 0) return 'done';
  const known = ids.map((id) => ({ id, names: namesOf([id]) }));
  const { streams } = await nats.jetstreamManager();
  for (const stream of [deadLetterStream, ...webhookStreams]) {
    await eraseMessages(streams, stream, {
      projectOf: (project, data) =>
        known.find(({ id, names }) => (project === '' ? mentions(data, names) : project === id))
          ?.id,
      renew: context.renew,
    });
  }
  return 'done';
}
