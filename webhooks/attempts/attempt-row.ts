// A record of an attempt as a message of the broker, as a row to insert, and as a row that was read: what each holds
// and what is refused. Moving them is write-attempts.ts's and read-attempts.ts's.

import { hasTexts } from '../../platform/broker/record-bucket.ts';
import {
  type AttemptRecord,
  attemptStatuses,
  errorClasses,
} from '../../platform/webhooks/attempt-record.ts';
import { triggers } from '../../platform/webhooks/delivery.ts';

const texts = [
  ...['attemptId', 'organizationId', 'webhookId', 'deliveryId', 'projectId', 'eventId'],
  ...['eventType', 'responseBody', 'endpointUrl', 'payload'],
] as const;

const maxUInt16 = 65_535;
const maxUInt32 = 4_294_967_295;
/** 2100. A time beyond it is a mistake, and a year is a partition for each of its days. */
const maxTimeMs = 4_102_444_800_000;

/** The largest values of the columns. */
const integers = {
  attempt: maxUInt16,
  responseCode: maxUInt16,
  attemptTimeMs: maxTimeMs,
  nextAttemptTimeMs: maxTimeMs,
  acceptTimeMs: maxTimeMs,
} as const;

/** Undefined where the bytes are no record that this version can read. */
export function decodeAttempt(bytes: Uint8Array): AttemptRecord | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    return isAttempt(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isAttempt(value: unknown): value is AttemptRecord {
  if (typeof value !== 'object' || value === null || !hasTexts(value, texts)) return false;
  const field = (name: string): unknown => Reflect.get(value, name);
  const durationMs = field('durationMs');
  return (
    Object.entries(integers).every(([name, max]) => isWithin(field(name), max)) &&
    typeof durationMs === 'number' &&
    durationMs >= 0 &&
    triggers.some((trigger) => trigger === field('trigger')) &&
    attemptStatuses.some((status) => status === field('status')) &&
    ['', ...errorClasses].some((error) => error === field('error'))
  );
}

function isWithin(value: unknown, max: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max;
}

/** One line for JSONEachRow. */
export function rowOf(record: AttemptRecord): string {
  return JSON.stringify({
    organization_id: record.organizationId,
    webhook_id: record.webhookId,
    attempt_time: record.attemptTimeMs,
    attempt_id: record.attemptId,
    delivery_id: record.deliveryId,
    project_id: record.projectId,
    event_id: record.eventId,
    event_type: record.eventType,
    attempt: record.attempt,
    trigger: record.trigger,
    status: record.status,
    response_code: record.responseCode,
    error: record.error,
    duration_ms: Math.min(maxUInt32, Math.round(record.durationMs)),
    response_body: record.responseBody,
    endpoint_url: record.endpointUrl,
    next_attempt_time: record.nextAttemptTimeMs,
    accept_time: record.acceptTimeMs,
    is_first: record.payload !== '' || record.error === 'payload_too_large',
    payload: record.payload,
  });
}

const ms = (column: string): string => `toUnixTimestamp64Milli(${column})`;

/** What a SELECT for `readAttempt` names, in its order. */
export const attemptColumns = [
  ...['attempt_id', 'delivery_id', 'project_id', 'event_id', 'event_type', 'trigger', 'status'],
  ...['error', 'response_body', 'endpoint_url', 'attempt', 'response_code', 'duration_ms'],
  ...[ms('attempt_time'), ms('next_attempt_time'), ms('accept_time')],
].join(', ');

/** The record without its payload; undefined for a row that a newer version wrote. */
export function readAttempt(
  webhook: { organizationId: string; webhookId: string },
  row: readonly unknown[],
): AttemptRecord | undefined {
  const [attemptId, deliveryId, projectId, eventId, eventType, trigger, status, ...more] = row;
  const [error, responseBody, endpointUrl, ...numbers] = more;
  const [attempt, responseCode, durationMs, ...times] = numbers.map(Number);
  const [attemptTimeMs, nextAttemptTimeMs, acceptTimeMs] = times;
  const record: unknown = {
    ...{ organizationId: webhook.organizationId, webhookId: webhook.webhookId },
    ...{ attemptId, deliveryId, projectId, eventId, eventType, trigger, status, error },
    ...{ responseBody, endpointUrl, attempt, responseCode, durationMs, attemptTimeMs },
    ...{ nextAttemptTimeMs, acceptTimeMs, payload: '' },
  };
  return isAttempt(record) ? record : undefined;
}
