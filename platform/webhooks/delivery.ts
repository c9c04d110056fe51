// A delivery: one event for one webhook. It travels as a message through the streams of webhook-streams.ts, from
// the pipeline to the dispatcher and from attempt to attempt, and holds all that an attempt needs but the webhook's
// record: its URL, status and secret are read at each attempt.

import { createHash } from 'node:crypto';
import { hasTexts } from '../broker/record-bucket.ts';
import type { EventType } from './webhook-record.ts';

/** Who asked for the attempt. A manual one is outside the budget of attempts. */
export const triggers = ['SCHEDULED', 'MANUAL', 'TEST'] as const;
export type Trigger = (typeof triggers)[number];

/** Why a delivery is recorded and not sent. */
export const skipReasons = [
  'rate_limited',
  'queue_full',
  'payload_too_large',
  'webhook_paused',
  'webhook_inactive',
] as const;
export type SkipReason = (typeof skipReasons)[number];

export interface Delivery {
  deliveryId: string;
  webhookId: string;
  organizationId: string;
  projectId: string;
  eventId: string;
  eventType: EventType;
  /** When the event's request was received, or when a test or a redelivery was asked for. Ms since the epoch. */
  acceptTimeMs: number;
  trigger: Trigger;
  /** The number of the attempt to make: 1 for the first, at most 6 for scheduled ones. */
  attempt: number;
  /** When the attempt is due: for the first at once. Ms since the epoch. */
  dueTimeMs: number;
  /** Of a retry: the same moment by the steady clock of the process that planned it. */
  planned?: { processId: string; dueSteadyMs: number };
  /** The body, byte for byte the same at each attempt. */
  payload: string;
  /** Present where the delivery was decided to be recorded only. */
  skip?: SkipReason;
}

/** The longest payload that is sent; a longer one is recorded as skipped, without it. */
export const maxPayloadBytes = 256 * 1_024;

/** Whether a payload is no longer than `maxPayloadBytes`. The bytes of a short one are not counted: it costs time. */
export function fitsPayload(payload: string): boolean {
  const mostBytes = payload.length * 3;
  return mostBytes <= maxPayloadBytes || Buffer.byteLength(payload) <= maxPayloadBytes;
}

/**
 * The delivery of an event to a webhook: whoever matches the event again makes the same id. 32 hex digits of a SHA-256
 * over the lengths and bytes of the three ids.
 */
export function deliveryIdOf(projectId: string, eventId: string, webhookId: string): string {
  const hash = createHash('sha256');
  for (const part of [projectId, eventId, webhookId]) {
    hash.update(`${Buffer.byteLength(part)}:`).update(part);
  }
  return hash.digest('hex').slice(0, 32);
}

export function encodeDelivery(delivery: Delivery): Uint8Array {
  return Buffer.from(JSON.stringify(delivery));
}

/** Undefined where the bytes are no delivery that this version can read. */
export function decodeDelivery(bytes: Uint8Array): Delivery | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    return isDelivery(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isDelivery(value: unknown): value is Delivery {
  if (typeof value !== 'object' || value === null) return false;
  const ids = ['deliveryId', 'webhookId', 'organizationId', 'projectId', 'eventId'] as const;
  const skip: unknown = Reflect.get(value, 'skip');
  const planned: unknown = Reflect.get(value, 'planned');
  return (
    hasTexts(value, [...ids, 'eventType', 'payload']) &&
    triggers.some((trigger) => trigger === Reflect.get(value, 'trigger')) &&
    ['acceptTimeMs', 'attempt', 'dueTimeMs'].every((name) =>
      Number.isFinite(Reflect.get(value, name)),
    ) &&
    (skip === undefined || skipReasons.some((reason) => reason === skip)) &&
    (planned === undefined || isPlanned(planned))
  );
}

function isPlanned(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return hasTexts(value, ['processId']) && Number.isFinite(Reflect.get(value, 'dueSteadyMs'));
}
