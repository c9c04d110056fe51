// Opens the buckets of the accounts service, each with the reader of its records. Their names, sizes and lifetimes are
// platform/broker's.

import { type OrganizationRecord, readOrganization } from '../platform/access/organizations.ts';
import type { BucketRoom } from '../platform/broker/bucket-room.ts';
import { type BucketName, buckets } from '../platform/broker/buckets.ts';
import type { NatsConnection } from '../platform/broker/nats.ts';
import { openBucket, type RecordBucket } from '../platform/broker/record-bucket.ts';
import { type WatchedBucket, watchBucket } from '../platform/broker/watched-bucket.ts';
import {
  type DashboardListRecord,
  readDashboardList,
} from '../platform/dashboards/dashboard-list.ts';
import {
  type DashboardRecord,
  readDashboardRecord,
} from '../platform/dashboards/dashboard-record.ts';
import type { Log } from '../platform/log.ts';
import { type MagicLinkRecord, readMagicLink } from './auth/magic-link.ts';
import { readSession, type SessionRecord } from './auth/session.ts';
import { type CustomerRecord, readCustomer } from './customers/customer-record.ts';
import { type OwnerRecord, readOwner } from './customers/unique-owner.ts';
import { type OpeningRecord, readOpening } from './demo/open-demo.ts';

export interface ControlBuckets {
  customers: WatchedBucket<CustomerRecord>;
  organizations: WatchedBucket<OrganizationRecord>;
  /** The customer that owns each unique thing: an e-mail address, an account at a provider. */
  owners: RecordBucket<OwnerRecord>;
  sessions: RecordBucket<SessionRecord>;
  magicLinks: RecordBucket<MagicLinkRecord>;
  /** The token that opens the demo. */
  openings: RecordBucket<OpeningRecord>;
  dashboards: RecordBucket<DashboardRecord>;
  /** The dashboards and shares of each project. */
  dashboardLists: WatchedBucket<DashboardListRecord>;
  close(): Promise<void>;
}

/**
 * Resolves once customers, organizations and lists of dashboards are in memory. ensureTopology must have made the
 * buckets before. Without `roomOf` the room that is kept back in each bucket is used too.
 */
export async function openControlBuckets(
  connection: NatsConnection,
  log: Log,
  roomOf: (name: BucketName) => BucketRoom | undefined = () => undefined,
): Promise<ControlBuckets> {
  const { organizations: orgs, dashboardLists: lists } = buckets;
  const [customers, organizations, owners, sessions, magicLinks] = await Promise.all([
    openBucket(connection, buckets.customers, readCustomer, roomOf(buckets.customers)),
    openBucket(connection, orgs, readOrganization, roomOf(orgs)),
    openBucket(connection, buckets.owners, readOwner, roomOf(buckets.owners)),
    openBucket(connection, buckets.sessions, readSession, roomOf(buckets.sessions)),
    openBucket(connection, buckets.magicLinks, readMagicLink, roomOf(buckets.magicLinks)),
  ]);
  const [openings, dashboards, dashboardLists] = await Promise.all([
    openBucket(connection, buckets.instance, readOpening),
    openBucket(connection, buckets.dashboards, readDashboardRecord, roomOf(buckets.dashboards)),
    openBucket(connection, lists, readDashboardList, roomOf(lists)),
  ]);
  const [watchedCustomers, watchedOrganizations, watchedLists] = await Promise.all([
    watchBucket(connection, customers, { log }),
    watchBucket(connection, organizations, { log }),
    watchBucket(connection, dashboardLists, { log }),
  ]);
  return {
    customers: watchedCustomers,
    organizations: watchedOrganizations,
    owners,
    sessions,
    magicLinks,
    openings,
    dashboards,
    dashboardLists: watchedLists,
    async close() {
      const watched = [watchedCustomers, watchedOrganizations, watchedLists];
      await Promise.all(watched.map((bucket) => bucket.close()));
    },
  };
}
