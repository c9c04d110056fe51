// The rules of the methods that queue deliveries themselves.

import type { ConnectError } from '@connectrpc/connect';
import type { WebhookRecord, WebhookStatus } from '../../../platform/webhooks/webhook-record.ts';
import { exhausted, failedPrecondition } from '../http/refusals.ts';
import { statusName } from '../schema/event-names.ts';

/** Throws failed_precondition. A paused webhook is sent single deliveries: they show whether its endpoint is well. */
export function requireSendable({ status }: WebhookRecord): void {
  if (status === 'INACTIVE') throw notSent(status);
}

/** Throws failed_precondition. */
export function requireActive({ status }: WebhookRecord): void {
  if (status !== 'ACTIVE') throw notSent(status);
}

function notSent(status: WebhookStatus): ConnectError {
  return failedPrecondition(
    `the webhook is ${statusName(status)}: set its status to ${statusName('ACTIVE')} first`,
  );
}

export function queueIsFull(): ConnectError {
  return exhausted(
    'too many deliveries wait already, this one was not queued: try again later',
    60,
  );
}
