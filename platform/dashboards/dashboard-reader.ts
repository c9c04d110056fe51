// Reads one dashboard of a project, saved or built in. Changing dashboards is control/'s.

import type { Dashboard } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { RecordBucket } from '../broker/record-bucket.ts';
import type { WatchedBucket } from '../broker/watched-bucket.ts';
import type { DashboardListRecord, ListedDashboard } from './dashboard-list.ts';
import { type DashboardRecord, dashboardOf, placeKey } from './dashboard-record.ts';
import { overviewDashboard, overviewId } from './overview-dashboard.ts';

interface ReaderDeps {
  dashboards: Pick<RecordBucket<DashboardRecord>, 'get'>;
  lists: Pick<WatchedBucket<DashboardListRecord>, 'get' | 'ask'>;
}

/** Undefined where the project has no such dashboard. The message is the caller's. Throws NatsError. */
export type ReadDashboard = (projectId: string, id: string) => Promise<Dashboard | undefined>;

export function createReadDashboard({ dashboards, lists }: ReaderDeps): ReadDashboard {
  return async (projectId, id) => {
    if (id === overviewId) return overviewDashboard();
    const listed = await findListed(lists, projectId, id);
    if (listed === undefined) return undefined;
    const found = await dashboards.get(placeKey(projectId, listed.place));
    switch (found.kind) {
      case 'found':
        // Another one is there where memory did not know yet that the listed one was deleted.
        return found.record.id === id ? dashboardOf(found.record) : undefined;
      case 'absent':
        return undefined;
      case 'unreadable':
        throw new Error(`dashboard ${id} cannot be read by this version`);
      default:
        return found satisfies never;
    }
  };
}

/** The dashboard's entry: the broker is asked where memory has none, as another process may have just made it. */
export async function findListed(
  lists: ReaderDeps['lists'],
  projectId: string,
  id: string,
): Promise<ListedDashboard | undefined> {
  const known = entryOf(lists.get(projectId)?.record, id);
  if (known !== undefined) return known;
  const asked = await lists.ask(projectId);
  return asked.kind === 'found' ? entryOf(asked.record, id) : undefined;
}

function entryOf(list: DashboardListRecord | undefined, id: string): ListedDashboard | undefined {
  return list?.dashboards.find((listed) => listed.id === id);
}
