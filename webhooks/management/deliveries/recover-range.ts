// Queues the deliveries of a range of time again, page by page: however long their bodies are, one page is in memory.

import { minuteMs } from '../../../platform/clock.ts';
import type { Delivery } from '../../../platform/webhooks/delivery.ts';
import type { DeliverySelection, StoredDelivery } from '../../attempts/read-deliveries.ts';
import type { ManagementParts } from '../management-parts.ts';
import { queueIsFull } from './queue-rules.ts';

export const maxRecovered = 10_000;
/** A hundred of the longest bodies are 25 MiB. */
const pageSize = 100;
/** Others wait for their answers too. What is left is the caller's next request. */
const maxWorkMs = 20_000;

export interface Recovered {
  deliveryIds: string[];
  /** Deliveries whose body was not kept. */
  withoutBody: number;
  /** The first record of the first delivery that was left, or of the last that was queued where the log failed. */
  nextFromMs?: number;
}

interface Webhook {
  organizationId: string;
  webhookId: string;
}

type AgainOf = (stored: StoredDelivery, to: Webhook, nowMs: number) => Delivery;

/** Throws resource_exhausted where the queue takes none, and what reading the log throws. */
export async function recover(
  parts: ManagementParts,
  to: Webhook,
  selection: DeliverySelection,
  againOf: AgainOf,
): Promise<Recovered> {
  const { attempts, clock } = parts;
  const { organizationId, webhookId } = to;
  const startMs = clock.nowMs();
  const recovered: Recovered = { deliveryIds: [], withoutBody: 0 };
  let after: DeliverySelection['after'];
  for (;;) {
    const room = maxRecovered - recovered.deliveryIds.length;
    let page: readonly StoredDelivery[];
    try {
      page = await attempts.readDeliveries(
        organizationId,
        webhookId,
        { ...selection, ...(after !== undefined && { after }) },
        Math.max(1, Math.min(pageSize, room)),
      );
    } catch (error) {
      if (after === undefined || recovered.deliveryIds.length === 0) throw error;
      // A caller that is told nothing of the pages before would ask for them again, and their deliveries come twice.
      return { ...recovered, nextFromMs: after.firstTimeMs };
    }
    const first = page[0];
    if (first === undefined) return recovered;
    if (room === 0 || clock.nowMs() - startMs > maxWorkMs) {
      return { ...recovered, nextFromMs: first.firstTimeMs };
    }
    const refused = await queueAgain(parts, page, to, { againOf, startMs }, recovered);
    if (refused !== undefined) {
      if (recovered.deliveryIds.length === 0) throw queueIsFull();
      return { ...recovered, nextFromMs: refused.firstTimeMs };
    }
    after = page.at(-1);
  }
}

/** Adds the deliveries to `recovered`; returns the first that the queue did not take. */
async function queueAgain(
  { publishDelivery, clock }: ManagementParts,
  page: readonly StoredDelivery[],
  to: Webhook,
  { againOf, startMs }: { againOf: AgainOf; startMs: number },
  recovered: Recovered,
): Promise<StoredDelivery | undefined> {
  const kept = page.filter(({ payload }) => payload !== '');
  const outcomes = await Promise.all(
    kept.map((stored) => {
      // A client that repeats its request within the minute sends nothing twice.
      const messageId = `${stored.deliveryId}:recover:${Math.floor(startMs / minuteMs)}`;
      return publishDelivery(againOf(stored, to, clock.nowMs()), messageId);
    }),
  );
  recovered.withoutBody += page.length - kept.length;
  for (const [index, { deliveryId }] of kept.entries()) {
    if (outcomes[index] === 'queued') recovered.deliveryIds.push(deliveryId);
  }
  return kept[outcomes.indexOf('full')];
}
