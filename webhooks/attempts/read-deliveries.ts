// Deliveries of the log with their payloads, for sending them again: one by its id, or those of a time whose newest
// record has one of some statuses.

import { type Clock, dayMs } from '../../platform/clock.ts';
import type { AttemptStatus } from '../../platform/webhooks/attempt-record.ts';
import { type EventType, eventTypes } from '../../platform/webhooks/webhook-record.ts';
import type { BoundedReads, ReadRowsOf } from './bounded-reads.ts';
import { keptDays, moment } from './read-attempts.ts';

/** What a redelivery needs of a delivery's first record. */
export interface StoredDelivery {
  deliveryId: string;
  projectId: string;
  eventId: string;
  eventType: EventType;
  /** When the delivery's first record was made. */
  firstTimeMs: number;
  /** Empty where it was too large to keep. */
  payload: string;
}

/** Deliveries whose newest record has one of the statuses. */
export interface DeliverySelection {
  /** Of a delivery's first record, in ms since the epoch; `toMs` excluded. */
  fromMs: number;
  toMs: number;
  statuses: readonly AttemptStatus[];
  /** The last delivery of the page before. */
  after?: { firstTimeMs: number; deliveryId: string };
}

interface Parts {
  reads: BoundedReads;
  clock: Clock;
}

interface Webhook {
  organizationId: string;
  webhookId: string;
}

const maxDeliveries = 1_000;
/** Two of the longest payloads, each character escaped; more than that ends a page. */
const maxCharacters = 4 * 1_048_576;

const storedColumns =
  'delivery_id, project_id, event_id, event_type, toUnixTimestamp64Milli(attempt_time), payload';
const ofWebhook = 'organization_id = {organizationId:String} AND webhook_id = {webhookId:String}';

/** Undefined where the webhook has no such delivery in the log. Throws as BoundedReads says. */
export async function readDelivery(
  { reads, clock }: Parts,
  webhook: Webhook,
  deliveryId: string,
): Promise<StoredDelivery | undefined> {
  const { rows } = await reads.run(webhook.organizationId, (rowsOf) =>
    rowsOf({
      sql: `
        SELECT ${storedColumns}
        FROM webhook_attempts
        WHERE ${ofWebhook} AND attempt_time >= ${moment('sinceMs')}
          AND delivery_id = {deliveryId:String} AND is_first
        ORDER BY attempt_time
        LIMIT 1`,
      params: { ...webhook, deliveryId, sinceMs: clock.nowMs() - keptDays * dayMs },
      maxCharacters,
    }),
  );
  return rows.map(storedDelivery)[0];
}

/**
 * The oldest first, at most `limit` of them and 1,000. Fewer where their payloads are long, so that only an empty page
 * is the end. Throws as BoundedReads says.
 */
export async function readDeliveries(
  { reads, clock }: Parts,
  webhook: Webhook,
  selection: DeliverySelection,
  limit: number,
): Promise<readonly StoredDelivery[]> {
  if (selection.statuses.length === 0) return [];
  const sinceMs = Math.max(selection.fromMs, clock.nowMs() - keptDays * dayMs);
  const maxRows = Math.min(maxDeliveries, limit);
  return reads.run(webhook.organizationId, async (rowsOf) => {
    const chosen = await chooseDeliveries(rowsOf, webhook, { ...selection, sinceMs }, maxRows);
    const firstMs = chosen[0]?.firstTimeMs;
    const lastMs = chosen.at(-1)?.firstTimeMs;
    if (firstMs === undefined || lastMs === undefined) return [];
    const { rows } = await rowsOf({
      sql: `
        SELECT ${storedColumns}
        FROM webhook_attempts
        WHERE ${ofWebhook} AND attempt_time >= ${moment('firstMs')} AND attempt_time <= ${moment('lastMs')}
          AND delivery_id IN {deliveryIds:Array(String)} AND is_first
        ORDER BY attempt_time, delivery_id
        LIMIT 1 BY delivery_id
        LIMIT {maxRows:UInt32}`,
      params: {
        ...{ ...webhook, firstMs, lastMs, maxRows },
        deliveryIds: chosen.map(({ deliveryId }) => deliveryId),
      },
      maxCharacters,
    });
    return rows.flatMap((row) => storedDelivery(row) ?? []);
  });
}

/**
 * Only deliveries that ever had one of the statuses are grouped: in a webhook that works these are few among many. The
 * subquery and the groups are bounded by the memory of a statement.
 */
async function chooseDeliveries(
  rowsOf: ReadRowsOf,
  webhook: Webhook,
  { sinceMs, toMs, statuses, after }: DeliverySelection & { sinceMs: number },
  maxRows: number,
): Promise<{ deliveryId: string; firstTimeMs: number }[]> {
  // A delivery has no record before its first one.
  const startMs = Math.max(sinceMs, after?.firstTimeMs ?? 0);
  const inTime = `${ofWebhook} AND attempt_time >= ${moment('startMs')}`;
  const isBehind =
    after === undefined
      ? ''
      : `AND (first_time, delivery_id) > (${moment('afterMs')}, {afterId:String})`;
  const { rows } = await rowsOf({
    sql: `
      SELECT delivery_id, toUnixTimestamp64Milli(minIf(attempt_time, is_first) AS first_time)
      FROM webhook_attempts
      WHERE ${inTime} AND delivery_id IN (
        SELECT delivery_id FROM webhook_attempts WHERE ${inTime} AND status IN {statuses:Array(String)}
      )
      GROUP BY delivery_id
      HAVING countIf(is_first) > 0 AND first_time < ${moment('toMs')}
        AND argMax(status, (attempt_time, attempt_id)) IN {statuses:Array(String)} ${isBehind}
      ORDER BY first_time, delivery_id
      LIMIT {maxRows:UInt32}`,
    params: {
      ...{ ...webhook, startMs, toMs, statuses, maxRows },
      ...(after !== undefined && { afterMs: after.firstTimeMs, afterId: after.deliveryId }),
    },
    maxCharacters,
  });
  return rows.map(([deliveryId, firstTimeMs]) => {
    return { deliveryId: String(deliveryId), firstTimeMs: Number(firstTimeMs) };
  });
}

/** Undefined for an event type of a newer version. */
function storedDelivery(row: readonly unknown[]): StoredDelivery | undefined {
  const [deliveryId = '', projectId = '', eventId = '', type, time, payload = ''] = row.map(String);
  const eventType = eventTypes.find((known) => known === type);
  if (eventType === undefined) return undefined;
  return { deliveryId, projectId, eventId, eventType, firstTimeMs: Number(time), payload };
}
