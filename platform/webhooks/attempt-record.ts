// The record of one attempt, or of a delivery that was not sent: one row of the log. The dispatcher publishes it, the
// log's writer inserts it, the management interface shows it.

import { type Delivery, type SkipReason, skipReasons, type Trigger } from './delivery.ts';

export const attemptStatuses = ['SUCCEEDED', 'FAILED_WILL_RETRY', 'EXHAUSTED', 'SKIPPED'] as const;
export type AttemptStatus = (typeof attemptStatuses)[number];

/** Coarse on purpose: for a refused address no class, time or text differs from a connection that failed. */
export const errorClasses = [
  'connection_failed',
  'timeout',
  'tls_failed',
  'http_status',
  'redirected',
  'body_failed',
  // Of deliveries that were not sent.
  ...skipReasons,
] as const;
export type ErrorClass = (typeof errorClasses)[number];

export interface AttemptRecord {
  /** Random; the row of a record that is inserted twice counts once. */
  attemptId: string;
  organizationId: string;
  webhookId: string;
  deliveryId: string;
  projectId: string;
  eventId: string;
  eventType: string;
  /** 1 for the first; 0 where nothing was sent. */
  attempt: number;
  trigger: Trigger;
  status: AttemptStatus;
  /** 0 without an answer. */
  responseCode: number;
  /** Empty for a success. */
  error: ErrorClass | '';
  durationMs: number;
  /** At most 16 KiB of the answer, cut at a character. */
  responseBody: string;
  endpointUrl: string;
  attemptTimeMs: number;
  /** When the next attempt is due; 0 where there is none. */
  nextAttemptTimeMs: number;
  acceptTimeMs: number;
  /** The body that was or would be sent: present in a delivery's first record only, for redelivery. */
  payload: string;
}

/** What a record says besides what its delivery says. */
export type AttemptPart = Omit<AttemptRecord, keyof DeliveryPart | 'payload'>;

type DeliveryPart = Pick<
  Delivery,
  | 'deliveryId'
  | 'webhookId'
  | 'organizationId'
  | 'projectId'
  | 'eventId'
  | 'eventType'
  | 'trigger'
  | 'acceptTimeMs'
>;

export function attemptRecordOf(delivery: Delivery, part: AttemptPart): AttemptRecord {
  const { deliveryId, webhookId, organizationId, projectId, eventId, eventType } = delivery;
  const { trigger, acceptTimeMs, payload } = delivery;
  // A redelivery's first record is that of the delivery itself.
  const isFirst = delivery.attempt === 1 && trigger !== 'MANUAL';
  return {
    ...{ deliveryId, webhookId, organizationId, projectId, eventId, eventType },
    ...{ trigger, acceptTimeMs },
    ...part,
    payload: isFirst ? payload : '',
  };
}

/** The record of a delivery that is not sent. `timeMs`: when that was decided. */
export function skippedRecordOf(
  delivery: Delivery,
  part: { attemptId: string; endpointUrl: string; error: SkipReason; timeMs: number },
): AttemptRecord {
  const { attemptId, endpointUrl, error, timeMs } = part;
  return attemptRecordOf(delivery, {
    ...{ attemptId, endpointUrl, error },
    status: 'SKIPPED',
    attempt: 0,
    responseCode: 0,
    responseBody: '',
    durationMs: 0,
    attemptTimeMs: timeMs,
    nextAttemptTimeMs: 0,
  });
}
