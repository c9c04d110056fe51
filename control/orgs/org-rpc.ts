// OrgsService.Create, Get, List and Update: the organization itself. Its members, invitations and keys have files of
// their own.

import { Code, ConnectError } from '@connectrpc/connect';
import type { PlaceOf } from '../../platform/access/customer-access.ts';
import { newId } from '../../platform/access/ids.ts';
import type {
  OrganizationDirectory,
  OrganizationRecord,
} from '../../platform/access/organizations.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import type {
  CreateRequest,
  Org,
  UpdateRequest,
} from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import type { CustomerStore } from '../customers/customer-store.ts';
import { nowText } from '../record-times.ts';
import { displayNameField } from '../request-fields.ts';
import type { SignedInCustomer, SignedInMember } from '../signed-in-customer.ts';
import {
  changeOrganization,
  newOrganization,
  noSuchOrganization,
  orgMessage,
  refuseMoreOrganizations,
} from './org-record.ts';

export interface OrgDeps {
  organizations: WatchedBucket<OrganizationRecord>;
  directory: Pick<OrganizationDirectory, 'get' | 'organizationsOf'>;
  placeOf: PlaceOf;
  customers: Pick<CustomerStore, 'get'>;
  clock: Clock;
}

export async function createOrg(
  { organizations, directory, clock }: OrgDeps,
  request: CreateRequest,
  signedIn: SignedInCustomer,
): Promise<{ org: Org }> {
  const displayName = displayNameField('displayName', request.displayName);
  refuseMoreOrganizations(directory.organizationsOf(signedIn.customerId).length);
  const id = newId();
  const record = newOrganization({
    id,
    displayName,
    adminId: signedIn.customerId,
    now: nowText(clock),
  });
  const made = await organizations.create(id, record);
  if (made.kind === 'conflict') throw new Error('a random id was drawn twice');
  return { org: orgMessage(record, { role: 'admin' }) };
}

export function getOrg(
  { directory }: Pick<OrgDeps, 'directory'>,
  signedIn: SignedInMember,
): { org: Org } {
  const record = directory.get(signedIn.organizationId);
  if (record === undefined) throw noSuchOrganization();
  return { org: orgMessage(record, signedIn) };
}

export function listOrgs(
  { directory, placeOf }: Pick<OrgDeps, 'directory' | 'placeOf'>,
  signedIn: SignedInCustomer,
): { orgs: Org[] } {
  const records = directory
    .organizationsOf(signedIn.customerId)
    .flatMap((id) => directory.get(id) ?? [])
    .sort((a, b) => (a.createTime + a.id < b.createTime + b.id ? -1 : 1));
  return {
    orgs: records.map((record) =>
      orgMessage(record, placeOf(record.id, signedIn.customerId) ?? { role: 'viewer' }),
    ),
  };
}

export async function updateOrg(
  { organizations, customers, clock }: Pick<OrgDeps, 'organizations' | 'customers' | 'clock'>,
  request: UpdateRequest,
  signedIn: SignedInMember,
): Promise<{ org: Org }> {
  const { displayName, requiresSecondFactor } = request;
  const name = displayName === undefined ? undefined : displayNameField('displayName', displayName);
  if (requiresSecondFactor === true) refuseWithoutSecondFactor(customers, signedIn);
  const record = await changeOrganization(organizations, signedIn.organizationId, (before) => {
    if (name === undefined && requiresSecondFactor === undefined) return { leave: before };
    const { requiresSecondFactor: wasRequired, ...rest } = before;
    const write: OrganizationRecord = {
      ...rest,
      ...(name !== undefined && { displayName: name }),
      ...((requiresSecondFactor ?? wasRequired === true) && { requiresSecondFactor: true }),
      updateTime: nowText(clock),
    };
    return { write, answer: write };
  });
  return { org: orgMessage(record, signedIn) };
}

/** Who asks it of others must not be kept out by it. */
function refuseWithoutSecondFactor(
  customers: Pick<CustomerStore, 'get'>,
  { customerId }: SignedInMember,
): void {
  if (customers.get(customerId)?.secondFactor !== undefined) return;
  throw new ConnectError(
    'requiresSecondFactor: set up a second factor of your own first',
    Code.FailedPrecondition,
  );
}
