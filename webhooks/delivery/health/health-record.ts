// How a webhook fares, kept in the bucket `webhook_health`: what its automatic pause is decided by. Failed deliveries
// are kept by id, so that an attempt that is repeated after a crash, or a retry, is not counted twice.

import { dayMs } from '../../../platform/clock.ts';
import type { PauseReason, WebhookRecord } from '../../../platform/webhooks/webhook-record.ts';

/** Times are RFC 3339. Fields that this file does not know belong to others and are kept. */
export interface WebhookHealthRecord {
  schemaVersion: 1;
  /** The webhook's at the time of writing: after it was resumed, everything counts anew. */
  activeTime: string;
  lastSuccessTime?: string;
  /** Those that failed since the last success, by the beginning of their id. */
  failedDeliveries?: readonly string[];
  /** Since the last success. */
  firstExhaustedTime?: string;
}

/** What happened to a webhook since the last write, in one piece. */
export interface HealthChange {
  /** The last success; what happened before it counts no more. */
  succeededMs?: number;
  failedDeliveries: Set<string>;
  exhaustedMs?: number;
}

/** When a webhook is paused: docs/webhooks.md tells these three. Failures are deliveries in a row. */
export const failuresForPause = 100;
const noSuccessForPauseMs = 5 * dayMs;
const exhaustedApartMs = 12 * 3_600_000;
/** Of a delivery's id: enough to tell a hundred apart. */
const keptIdDigits = 16;

export function readWebhookHealth(value: unknown): WebhookHealthRecord | undefined {
  return isWebhookHealth(value) ? value : undefined;
}

function isWebhookHealth(value: unknown): value is WebhookHealthRecord {
  if (typeof value !== 'object' || value === null) return false;
  const failed: unknown = Reflect.get(value, 'failedDeliveries') ?? [];
  const times = ['activeTime', 'lastSuccessTime', 'firstExhaustedTime'];
  return (
    Reflect.get(value, 'schemaVersion') === 1 &&
    times.every((name) => ['string', 'undefined'].includes(typeof Reflect.get(value, name))) &&
    Array.isArray(failed) &&
    failed.every((id) => typeof id === 'string')
  );
}

export function keptId(deliveryId: string): string {
  return deliveryId.slice(0, keptIdDigits);
}

/** The record after the change. */
export function healthAfter(
  before: WebhookHealthRecord | undefined,
  change: HealthChange,
  { activeTime }: Pick<WebhookRecord, 'activeTime'>,
): WebhookHealthRecord {
  const { succeededMs, exhaustedMs } = change;
  const { failedDeliveries: former = [], firstExhaustedTime: formerTime, ...kept } = before ?? {};
  const isAnew = succeededMs !== undefined || before?.activeTime !== activeTime;
  const failed = new Set([...(isAnew ? [] : former), ...change.failedDeliveries]);
  const exhaustedTime = exhaustedMs === undefined ? undefined : rfc3339(exhaustedMs);
  const firstExhaustedTime = (isAnew ? undefined : formerTime) ?? exhaustedTime;
  return {
    ...kept,
    schemaVersion: 1,
    activeTime,
    ...(succeededMs !== undefined && { lastSuccessTime: rfc3339(succeededMs) }),
    ...(failed.size > 0 && { failedDeliveries: [...failed].slice(-failuresForPause) }),
    ...(firstExhaustedTime !== undefined && { firstExhaustedTime }),
  };
}

/** Whether the webhook is to be paused. `exhaustedMs`: when a delivery has just used up its attempts. */
export function pauseReasonOf(
  health: WebhookHealthRecord,
  exhaustedMs: number | undefined,
): PauseReason | undefined {
  const { activeTime, lastSuccessTime, failedDeliveries = [], firstExhaustedTime } = health;
  if (failedDeliveries.length >= failuresForPause) return 'FAILURES_IN_A_ROW';
  if (exhaustedMs === undefined || firstExhaustedTime === undefined) return undefined;
  const wellMs = Math.max(Date.parse(activeTime), Date.parse(lastSuccessTime ?? activeTime));
  const isLong = exhaustedMs - wellMs >= noSuccessForPauseMs;
  const isApart = exhaustedMs - Date.parse(firstExhaustedTime) >= exhaustedApartMs;
  return isLong && isApart ? 'NO_SUCCESS_FOR_DAYS' : undefined;
}

function rfc3339(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
