// OrgsService.Create, Get, List and Update: the organization itself. Its members, invitations and keys have files of
// their own.

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
  directory: Pick<OrganizationDirectory, 'get' | 'placeOf' | 'organizationsOf'>;
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
  return { org: orgMessage(record, 'admin') };
}

export function getOrg(
  { directory }: Pick<OrgDeps, 'directory'>,
  signedIn: SignedInMember,
): { org: Org } {
  const record = directory.get(signedIn.organizationId);
  if (record === undefined) throw noSuchOrganization();
  return { org: orgMessage(record, signedIn.role) };
}

export function listOrgs(
  { directory }: Pick<OrgDeps, 'directory'>,
  signedIn: SignedInCustomer,
): { orgs: Org[] } {
  const records = directory
    .organizationsOf(signedIn.customerId)
    .flatMap((id) => directory.get(id) ?? [])
    .sort((a, b) => (a.createTime + a.id < b.createTime + b.id ? -1 : 1));
  return {
    orgs: records.map((record) =>
      orgMessage(record, directory.placeOf(record.id, signedIn.customerId)?.role ?? 'viewer'),
    ),
  };
}

export async function updateOrg(
  { organizations, clock }: Pick<OrgDeps, 'organizations' | 'clock'>,
  request: UpdateRequest,
  signedIn: SignedInMember,
): Promise<{ org: Org }> {
  const { displayName } = request;
  const name = displayName === undefined ? undefined : displayNameField('displayName', displayName);
  const record = await changeOrganization(organizations, signedIn.organizationId, (before) => {
    if (name === undefined) return { leave: before };
    const write = { ...before, displayName: name, updateTime: nowText(clock) };
    return { write, answer: write };
  });
  return { org: orgMessage(record, signedIn.role) };
}
