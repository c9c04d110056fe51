// What the methods that delete projects, organizations and accounts work with.

import type {
  OrganizationDirectory,
  OrganizationRecord,
} from '../../platform/access/organizations.ts';
import type { ProjectRecord } from '../../platform/access/projects.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import type { DashboardListRecord } from '../../platform/dashboards/dashboard-list.ts';
import type { DeletionRequests } from '../../platform/erasure/ask-for-deletion.ts';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';

export interface DeletionDeps {
  deletions: DeletionRequests;
  projects: WatchedBucket<ProjectRecord>;
  organizations: WatchedBucket<OrganizationRecord>;
  directory: Pick<OrganizationDirectory, 'get' | 'organizationsOf'>;
  byOrganization: ProjectsByOrganization;
  /** The shares of a project's boards are in it. */
  dashboardLists: Pick<WatchedBucket<DashboardListRecord>, 'remove'>;
  clock: Clock;
}
