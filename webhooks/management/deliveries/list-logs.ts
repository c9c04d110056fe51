// The method that shows a webhook's log.

import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { attemptStatuses } from '../../../platform/webhooks/attempt-record.ts';
import { eventTypes } from '../../../platform/webhooks/webhook-record.ts';
import type { ListedAttempt } from '../../attempts/read-attempts.ts';
import { operation } from '../http/operation.ts';
import { webhookPath } from '../records/show-webhooks.ts';
import { momentMs } from '../schema/moment.ts';
import { type LogJson, log } from '../schema/webhook-schema.ts';

const maxPageSize = 1_000;
const usualPageSize = 100;

export const listLogs = operation({
  name: 'listLogs',
  method: 'GET',
  path: `${webhookPath}/logs`,
  summary: 'What was sent and what came back in the last 30 days, the newest first.',
  role: 'viewer',
  rate: 'read',
  refusals: [504],
  query: {
    type: 'object',
    properties: {
      page_token: { type: 'string', maxLength: 512 },
      page_size: {
        type: 'integer',
        minimum: 1,
        maximum: maxPageSize,
        description: `${usualPageSize} where it is absent.`,
      },
      status: { type: 'string', enum: attemptStatuses },
      event_type: { type: 'string', enum: eventTypes },
      project_id: { type: 'string', maxLength: 64, description: 'Of the events.' },
      from: { type: 'string', format: 'date-time' },
      to: { type: 'string', format: 'date-time', description: 'Attempts before it.' },
    },
    required: [],
    additionalProperties: false,
  },
  status: 200,
  answer: {
    type: 'object',
    properties: {
      logs: { type: 'array', items: log, maxItems: maxPageSize },
      next_page_token: { type: 'string', description: 'Empty at the end.' },
    },
    required: ['logs', 'next_page_token'],
  },
  async run({ store, attempts }, { organizationId, webhookId, query, gone }) {
    await store.find(organizationId, webhookId);
    const { page_size, page_token, status, event_type, project_id, from, to } = query;
    const fromMs = from === undefined ? undefined : momentMs(from);
    const toMs = to === undefined ? undefined : momentMs(to);
    if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs) {
      throw invalidArgument('to', 'must be after from');
    }
    const asked = {
      organizationId,
      webhookId,
      pageSize: page_size ?? usualPageSize,
      pageToken: page_token ?? '',
      ...(status !== undefined && { status }),
      ...(event_type !== undefined && { eventType: event_type }),
      ...(project_id !== undefined && { projectId: project_id }),
      ...(fromMs !== undefined && { fromMs }),
      ...(toMs !== undefined && { toMs }),
    };
    const read = await attempts.readAttempts(asked, gone);
    if (read.kind === 'bad_token') {
      throw invalidArgument('page_token', 'must be the next_page_token of the same question');
    }
    return { logs: read.attempts.map(logJson), next_page_token: read.nextPageToken };
  },
});

function logJson(attempt: ListedAttempt): LogJson {
  const { nextAttemptTimeMs } = attempt;
  return {
    delivery_id: attempt.deliveryId,
    event_id: attempt.eventId,
    event_type: attempt.eventType,
    attempt: attempt.attempt,
    retry_count: Math.max(0, attempt.attempt - 1),
    trigger: attempt.trigger,
    status: attempt.status,
    response_code: attempt.responseCode,
    error: attempt.error,
    duration_ms: attempt.durationMs,
    response_body: attempt.responseBody,
    endpoint_url: attempt.endpointUrl,
    attempt_time: new Date(attempt.attemptTimeMs).toISOString(),
    ...(nextAttemptTimeMs > 0 && { next_attempt_time: new Date(nextAttemptTimeMs).toISOString() }),
  };
}
