// The alerts of all projects in memory.

import {
  createOwnedItems,
  type ItemSources,
  type Owned,
  type OwnedItems,
} from '../platform/project-items/owned-items.ts';
import { itemOf } from '../platform/project-items/project-items.ts';
import { type Alert, AlertSchema } from '../proto/gen/dashboard/alerts/v1/alerts_pb.js';

export type OwnedAlert = Owned & { alert: Alert };
export type OwnedAlerts = OwnedItems<{ alert: Alert }>;

export function createOwnedAlerts(sources: ItemSources): OwnedAlerts {
  return createOwnedItems(sources, 'alerts', (item) => ({ alert: itemOf(AlertSchema, item) }));
}
