// Gives a new customer an organization with them as admin, and a project in it. The ids are drawn with the customer's
// record: after a crash half-way, the next sign-in goes on and makes nothing twice.

import type { OrganizationRecord } from '../../platform/access/organizations.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import { newOrganization } from '../orgs/org-record.ts';
import { nowText } from '../record-times.ts';
import type { CustomerRecord } from './customer-record.ts';
import type { CustomerStore } from './customer-store.ts';

/** Makes a project with a public key unless the id has one. */
type MakeProject = (project: {
  id: string;
  organizationId: string;
  displayName: string;
}) => Promise<unknown>;

/** Safe to call at any time: it does the steps that are left, mostly none. */
export async function ensureFirstProject(
  deps: {
    customers: Pick<CustomerStore, 'change'>;
    organizations: Pick<WatchedBucket<OrganizationRecord>, 'create'>;
    makeProject: MakeProject;
    clock: Clock;
  },
  customer: CustomerRecord,
): Promise<void> {
  if (customer.starting === undefined) return;
  const { organizationId, organizationName, projectId } = customer.starting;
  const organization = newOrganization({
    id: organizationId,
    displayName: organizationName,
    adminId: customer.id,
    now: nowText(deps.clock),
  });
  // A conflict is no error: an earlier attempt made the organization.
  await deps.organizations.create(organizationId, organization);
  await deps.makeProject({ id: projectId, organizationId, displayName: 'My first project' });
  await deps.customers.change(customer.id, (record) => {
    if (record.starting === undefined) return record;
    const { starting: _done, ...rest } = record;
    return rest;
  });
}
