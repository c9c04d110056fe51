// The broker's key-value buckets by name, and how each is configured. Making them is topology.ts; the records in them
// belong to the services.

import { hourMs } from '../clock.ts';

export const buckets = {
  instance: 'instance',
  organizations: 'orgs',
  projects: 'projects',
  ledger: 'ledger',
  ledgerHours: 'ledger_hours',
  salts: 'salts',
  customers: 'customers',
  owners: 'owners',
  sessions: 'sessions',
  magicLinks: 'magic_links',
  dashboards: 'dashboards',
  dashboardLists: 'dashboard_lists',
  projectItems: 'project_items',
  alertStates: 'alert_states',
  reportStates: 'report_states',
  exports: 'exports',
  exportSchedules: 'export_schedules',
  erasures: 'erasures',
  webhooks: 'webhooks',
  webhookHealth: 'webhook_health',
  webhookNotices: 'webhook_notices',
} as const;

export type BucketName = (typeof buckets)[keyof typeof buckets];

const KiB = 1_024;
const MiB = 1_024 * KiB;

export const bucketOptions = {
  instance: { history: 1, max_bytes: 1 * MiB, maxValueSize: 64 * KiB },
  orgs: { history: 1, max_bytes: 256 * MiB, maxValueSize: 512 * KiB },
  projects: { history: 1, max_bytes: 256 * MiB, maxValueSize: 512 * KiB },
  ledger: { history: 1, max_bytes: 64 * MiB, maxValueSize: 1 * MiB },
  // A shard's hours of 90 days take some 250 KiB, for 64 shards at most.
  ledger_hours: { history: 1, max_bytes: 64 * MiB, maxValueSize: 512 * KiB },
  // A running process erases a salt 48 h after its day began, and overwrites it. The age bounds a salt while no
  // process runs, without overwriting it; it is an hour longer because it counts from the salt's creation, up to a
  // minute before its day.
  salts: { history: 1, max_bytes: 1 * MiB, maxValueSize: 1 * KiB, ttl: 49 * hourMs },
  customers: { history: 1, max_bytes: 96 * MiB, maxValueSize: 64 * KiB },
  owners: { history: 1, max_bytes: 64 * MiB, maxValueSize: 4 * KiB },
  // Each refresh writes the record anew: a session that nobody refreshes for 90 days is gone.
  sessions: { history: 1, max_bytes: 128 * MiB, maxValueSize: 16 * KiB, ttl: 90 * 24 * hourMs },
  magic_links: { history: 1, max_bytes: 16 * MiB, maxValueSize: 4 * KiB, ttl: hourMs },
  // Read one by one; the lists, which every process keeps in memory, say which dashboards there are.
  dashboards: { history: 1, max_bytes: 1_024 * MiB, maxValueSize: 1 * MiB },
  dashboard_lists: { history: 1, max_bytes: 256 * MiB, maxValueSize: 512 * KiB },
  project_items: { history: 1, max_bytes: 256 * MiB, maxValueSize: 512 * KiB },
  // Read one by one; a hundred looks and twenty changes each, for a hundred alerts of an organization.
  alert_states: { history: 1, max_bytes: 256 * MiB, maxValueSize: 64 * KiB },
  // Read one by one; twenty runs each, for a hundred reports of an organization.
  report_states: { history: 1, max_bytes: 256 * MiB, maxValueSize: 64 * KiB },
  // Kept in memory; twenty of a project, each with what was asked and the names of its files.
  exports: { history: 1, max_bytes: 64 * MiB, maxValueSize: 96 * KiB },
  // Kept in memory; five of a project, each with what is asked, and the names of the files of two periods.
  export_schedules: { history: 1, max_bytes: 64 * MiB, maxValueSize: 128 * KiB },
  // Requests to erase persons, with the ids of a person in 16 bytes each: ten thousand at most, and a few as a rule. A
  // request proves the erasure, and repeats it after a restore, for two years after its last write.
  erasures: {
    ...{ history: 1, max_bytes: 64 * MiB, maxValueSize: 512 * KiB },
    ttl: 730 * 24 * hourMs,
  },
  webhooks: { history: 1, max_bytes: 256 * MiB, maxValueSize: 2 * MiB },
  webhook_health: { history: 1, max_bytes: 64 * MiB, maxValueSize: 16 * KiB },
  webhook_notices: { history: 1, max_bytes: 16 * MiB, maxValueSize: 64 * KiB },
} as const satisfies Record<BucketName, object>;

/**
 * The bytes that a record may grow to. The broker's own limit on values is above it, so that a record of before can
 * still be written with less in it.
 */
export const recordQuotaBytes: Readonly<Record<BucketName, number>> = {
  instance: 64 * KiB,
  // A thousand members, two hundred invitations, fifty keys.
  orgs: 256 * KiB,
  // A hundred keys with names, and fifty revoked ones.
  projects: 160 * KiB,
  ledger: 1 * MiB,
  ledger_hours: 512 * KiB,
  salts: 1 * KiB,
  customers: 16 * KiB,
  owners: 1 * KiB,
  sessions: 8 * KiB,
  magic_links: 1 * KiB,
  // The bound of a dashboard, and what its record has beside it.
  dashboards: 513 * KiB,
  // Two hundred dashboards with names, and their shares.
  dashboard_lists: 192 * KiB,
  // Five hundred annotations of usual length.
  project_items: 192 * KiB,
  alert_states: 32 * KiB,
  report_states: 32 * KiB,
  // A question of 24 KiB, and 200 files.
  exports: 64 * KiB,
  // A question of 24 KiB, and twice 200 files.
  export_schedules: 96 * KiB,
  erasures: 256 * KiB,
  // Fifty webhooks, fifty subscriptions each.
  webhooks: 1 * MiB,
  webhook_health: 8 * KiB,
  // What the admins of an organization are to be told of its webhooks.
  webhook_notices: 32 * KiB,
};
