// The quota of an organization's dashboards together: the bytes of their records, and of the lists that every process
// keeps in memory. With the bound on a customer's organizations, nobody's take more than a fifth of their bucket.

import { Code, ConnectError } from '@connectrpc/connect';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { DashboardListRecord } from '../../platform/dashboards/dashboard-list.ts';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';

export const maxContentBytes = 4_194_304;
export const maxListBytes = 1_048_576;

interface QuotaDeps {
  lists: Pick<WatchedBucket<DashboardListRecord>, 'get'>;
  byOrganization: ProjectsByOrganization;
}

/**
 * Throws failed_precondition where the organization's dashboards would take more than they may with so many bytes of
 * content more. Calls at the same moment may all pass.
 */
export function refuseMoreDashboardBytes(
  { lists, byOrganization }: QuotaDeps,
  organizationId: string,
  contentBytes: number,
): void {
  let content = contentBytes;
  let listed = 0;
  for (const id of byOrganization.idsOf(organizationId)) {
    const list = lists.get(id)?.record;
    if (list === undefined) continue;
    for (const { bytes } of list.dashboards) content += bytes;
    listed += Buffer.byteLength(JSON.stringify(list));
  }
  if (content > maxContentBytes) {
    throw full(`the dashboards of an organization take at most ${maxContentBytes} bytes`);
  }
  if (listed > maxListBytes) {
    throw full('an organization has no room for more dashboards and shares');
  }
}

function full(rule: string): ConnectError {
  return new ConnectError(`${rule}: delete some`, Code.FailedPrecondition);
}
