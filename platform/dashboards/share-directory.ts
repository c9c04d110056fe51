// Finds a share by its token, in memory. Its password, its end and what it shows are
// query/boards/shared/render-shared.ts's.

import { sha256 } from '../access/ids.ts';
import type { WatchedBucket } from '../broker/watched-bucket.ts';
import type { DashboardListRecord, ShareRecord } from './dashboard-list.ts';

export interface FoundShare {
  projectId: string;
  share: ShareRecord;
  /** Of its dashboard; 0 for a built-in one. */
  revision: number;
}

export interface ShareDirectory {
  /** Undefined for a token that is unknown or revoked; an expired one is found. */
  find(token: string): FoundShare | undefined;
  /** Milliseconds since memory was last known to hold everything that the broker holds. */
  unconfirmedMs(): number;
}

/** While the broker has not confirmed memory for this long, a share may have ended: then none is shown. */
export const shareStaleAfterMs = 10_000;

const tokenPattern = /^shr_[A-Za-z0-9_-]{43}$/;

/** Follows the bucket as long as the process runs. */
export function createShareDirectory(
  lists: Pick<WatchedBucket<DashboardListRecord>, 'get' | 'records' | 'onChange' | 'unconfirmedMs'>,
): ShareDirectory {
  const byTokenHash = new Map<string, FoundShare>();
  const hashesOf = new Map<string, readonly string[]>();
  const learn = (projectId: string, record: DashboardListRecord | undefined): void => {
    for (const hash of hashesOf.get(projectId) ?? []) byTokenHash.delete(hash);
    hashesOf.delete(projectId);
    if (record === undefined || record.shares.length === 0) return;
    const revisions = new Map(record.dashboards.map(({ id, revision }) => [id, revision]));
    for (const share of record.shares) {
      const revision = revisions.get(share.dashboardId) ?? 0;
      byTokenHash.set(share.tokenHash, { projectId, share, revision });
    }
    hashesOf.set(
      projectId,
      record.shares.map(({ tokenHash }) => tokenHash),
    );
  };
  for (const [projectId, record] of lists.records()) learn(projectId, record);
  lists.onChange((projectId) => learn(projectId, lists.get(projectId)?.record));
  return {
    find: (token) => (tokenPattern.test(token) ? byTokenHash.get(sha256(token)) : undefined),
    unconfirmedMs: () => lists.unconfirmedMs(),
  };
}
