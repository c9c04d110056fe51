// The quota of the items of an organization's projects together, of all kinds: every process keeps them in memory. With
// the bound on a customer's organizations, nobody's take more than a fifth of their bucket.

import { Code, ConnectError } from '@connectrpc/connect';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import {
  itemKinds,
  itemsKey,
  type ProjectItemsRecord,
} from '../../platform/project-items/project-items.ts';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';

export const maxItemBytes = 1_048_576;

interface QuotaDeps {
  items: Pick<WatchedBucket<ProjectItemsRecord>, 'get'>;
  byOrganization: ProjectsByOrganization;
}

/** Throws failed_precondition where the lists hold all that they may. Calls at the same moment may all pass. */
export function refuseMoreItemBytes(
  { items, byOrganization }: QuotaDeps,
  organizationId: string,
): void {
  let bytes = 0;
  for (const projectId of byOrganization.idsOf(organizationId)) {
    for (const kind of itemKinds) bytes += bytesOf(items.get(itemsKey(kind, projectId))?.record);
  }
  if (bytes < maxItemBytes) return;
  const rule = `the ${itemKinds.join(', ')} of an organization take at most ${maxItemBytes} bytes`;
  throw new ConnectError(`${rule}: delete some`, Code.FailedPrecondition);
}

/** Of each record once: a changed record is another object. */
const known = new WeakMap<ProjectItemsRecord, number>();

function bytesOf(record: ProjectItemsRecord | undefined): number {
  if (record === undefined) return 0;
  const bytes = known.get(record) ?? Buffer.byteLength(JSON.stringify(record));
  known.set(record, bytes);
  return bytes;
}
