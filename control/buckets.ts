// Opens the buckets of the accounts service, each with the reader of its records. Their names, sizes and lifetimes are
// platform/broker's.

import { type OrganizationRecord, readOrganization } from '../platform/access/organizations.ts';
import { type AlertStateRecord, readAlertState } from '../platform/alerts/alert-state.ts';
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
import {
  type ProjectItemsRecord,
  readProjectItems,
} from '../platform/project-items/project-items.ts';
import { type ReportStateRecord, readReportState } from '../platform/reports/report-state.ts';
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
  /** The small records of each project, such as its annotations. */
  projectItems: WatchedBucket<ProjectItemsRecord>;
  /** What is known of each alert. */
  alertStates: RecordBucket<AlertStateRecord>;
  /** What is known of each report's runs. */
  reportStates: RecordBucket<ReportStateRecord>;
  close(): Promise<void>;
}

/**
 * Resolves once all that is watched is in memory. ensureTopology must have made the
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
  const [openings, dashboards, dashboardLists, projectItems, ...states] = await Promise.all([
    openBucket(connection, buckets.instance, readOpening),
    openBucket(connection, buckets.dashboards, readDashboardRecord, roomOf(buckets.dashboards)),
    openBucket(connection, lists, readDashboardList, roomOf(lists)),
    openBucket(connection, buckets.projectItems, readProjectItems, roomOf(buckets.projectItems)),
    // Their records have a bound of their own, and a change must be written though the bucket is full.
    openBucket(connection, buckets.alertStates, readAlertState),
    openBucket(connection, buckets.reportStates, readReportState),
  ]);
  const [alertStates, reportStates] = states;
  const [watchedCustomers, watchedOrganizations, watchedLists, watchedItems] = await Promise.all([
    watchBucket(connection, customers, { log }),
    watchBucket(connection, organizations, { log }),
    watchBucket(connection, dashboardLists, { log }),
    watchBucket(connection, projectItems, { log }),
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
    projectItems: watchedItems,
    alertStates,
    reportStates,
    async close() {
      const watched = [watchedCustomers, watchedOrganizations, watchedLists, watchedItems];
      await Promise.all(watched.map((bucket) => bucket.close()));
    },
  };
}
