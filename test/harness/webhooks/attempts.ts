// Records of attempts for tests of the log and of what reads it.

import { randomUUID } from 'node:crypto';
import type { AttemptRecord } from '../../../platform/webhooks/attempt-record.ts';

/** A first attempt that succeeded just now, but for the given fields. */
export function attemptRecord(fields: Partial<AttemptRecord> = {}): AttemptRecord {
  const attemptTimeMs = fields.attemptTimeMs ?? Date.now();
  return {
    ...{ attemptId: randomUUID(), organizationId: 'org', webhookId: 'wh' },
    ...{ deliveryId: randomUUID().replaceAll('-', ''), projectId: 'prj', eventId: randomUUID() },
    ...{ eventType: 'message_sent', attempt: 1, trigger: 'SCHEDULED', status: 'SUCCEEDED' },
    ...{ responseCode: 200, error: '', durationMs: 12, responseBody: '' },
    ...{ endpointUrl: 'https://hooks.example.com/a', attemptTimeMs, nextAttemptTimeMs: 0 },
    ...{ acceptTimeMs: attemptTimeMs, payload: '{}' },
    ...fields,
  };
}
