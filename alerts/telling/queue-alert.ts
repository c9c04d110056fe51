// Queues the deliveries of a change of state: one for each webhook of the organization that subscribes to alerts of the
// project. The same change makes the same deliveries.

import { randomBytes } from 'node:crypto';
import type { ChangeRecord } from '../../platform/alerts/alert-state.ts';
import { renderAlert } from '../../platform/webhooks/alert-payload.ts';
import {
  deliveryOf,
  type Happening,
  isQueued,
  type QueueParts,
  queueDeliveries,
  subscribersOf,
} from '../../platform/webhooks/project-deliveries.ts';
import type { OwnedAlert } from '../owned-alerts.ts';
import { conditionName, stateName } from './alert-names.ts';

/** `later`: at least one is not known to be queued. A second call queues none twice. */
export type QueueAlert = (owned: OwnedAlert, change: ChangeRecord) => Promise<'queued' | 'later'>;

export function createQueueAlert(parts: QueueParts): QueueAlert {
  return (owned, change) => queueDeliveries(parts, happeningOf(owned, change, false));
}

/** Queues a test for each webhook; returns how many are queued. */
export async function queueTests(
  parts: QueueParts,
  owned: OwnedAlert,
  change: ChangeRecord,
): Promise<number> {
  const happening = happeningOf(owned, change, true);
  let queued = 0;
  for (const { id, status } of subscribersOf(parts, happening)) {
    if (status !== 'ACTIVE') continue;
    const deliveryId = randomBytes(16).toString('hex');
    const delivery = deliveryOf(happening, id, { deliveryId, trigger: 'TEST' });
    if (await isQueued(parts, delivery)) queued += 1;
  }
  return queued;
}

function happeningOf(
  { projectId, organizationId, alert }: OwnedAlert,
  change: ChangeRecord,
  isTest: boolean,
): Happening {
  const { id: eventId, timeMs, look } = change;
  const { condition } = alert;
  const part = renderAlert({
    ...{ organizationId, projectId, eventId, occurTimeMs: timeMs, isTest },
    ...{ alertId: alert.id, name: alert.displayName },
    ...{ state: stateName(change.state), previousState: stateName(change.before) },
    condition: conditionName(condition?.kind),
    threshold: condition?.threshold ?? 0,
    ...look,
  });
  return { organizationId, projectId, eventType: 'alert', eventId, timeMs, part };
}
