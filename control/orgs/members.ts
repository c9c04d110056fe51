// OrgsService.ListMembers, RemoveMember, UpdateMemberRole and Leave: the members of an organization. Joining is
// accept-invite.ts's.

import { Code, ConnectError } from '@connectrpc/connect';
import type {
  OrganizationDirectory,
  OrganizationRecord,
} from '../../platform/access/organizations.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Records } from '../../platform/records/change-record.ts';
import type {
  Member,
  RemoveMemberRequest,
  UpdateMemberRoleRequest,
} from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import type { CustomerStore } from '../customers/customer-store.ts';
import { nowText } from '../record-times.ts';
import { requiredField } from '../request-fields.ts';
import type { SignedInMember } from '../signed-in-customer.ts';
import {
  changeOrganization,
  keepAnAdmin,
  memberMessage,
  noSuchOrganization,
  roleField,
} from './org-record.ts';

export interface MembersDeps {
  organizations: Records<OrganizationRecord>;
  directory: Pick<OrganizationDirectory, 'get'>;
  customers: Pick<CustomerStore, 'get'>;
  clock: Clock;
}

export function listMembers(
  { directory, customers }: Pick<MembersDeps, 'directory' | 'customers'>,
  signedIn: SignedInMember,
): { members: Member[] } {
  const record = directory.get(signedIn.organizationId);
  if (record === undefined) throw noSuchOrganization();
  const members = record.members.flatMap((member) => {
    const customer = customers.get(member.customerId);
    return customer === undefined ? [] : [memberMessage(member, customer)];
  });
  return { members: members.sort((a, b) => (a.email < b.email ? -1 : 1)) };
}

export async function removeMember(
  deps: MembersDeps,
  request: RemoveMemberRequest,
  signedIn: SignedInMember,
): Promise<Record<string, never>> {
  await takeOut(deps, signedIn.organizationId, requiredField('customerId', request.customerId));
  return {};
}

export async function leave(
  deps: MembersDeps,
  signedIn: SignedInMember,
): Promise<Record<string, never>> {
  await takeOut(deps, signedIn.organizationId, signedIn.customerId);
  return {};
}

export async function updateMemberRole(
  { organizations, customers, clock }: MembersDeps,
  request: UpdateMemberRoleRequest,
  signedIn: SignedInMember,
): Promise<{ member: Member }> {
  const customerId = requiredField('customerId', request.customerId);
  const role = roleField('role', request.role);
  const customer = customers.get(customerId);
  if (customer === undefined) throw noSuchMember();
  await changeOrganization(organizations, signedIn.organizationId, (record) => {
    const before = record.members.find((member) => member.customerId === customerId);
    if (before === undefined) throw noSuchMember();
    if (before.role === role) return { leave: undefined };
    const members = record.members.map((member) =>
      member.customerId === customerId ? { customerId, role } : member,
    );
    keepAnAdmin(members);
    return { write: { ...record, members, updateTime: nowText(clock) }, answer: undefined };
  });
  return { member: memberMessage({ customerId, role }, customer) };
}

async function takeOut(
  { organizations, clock }: MembersDeps,
  organizationId: string,
  customerId: string,
): Promise<void> {
  await changeOrganization(organizations, organizationId, (record) => {
    const members = record.members.filter((member) => member.customerId !== customerId);
    if (members.length === record.members.length) throw noSuchMember();
    keepAnAdmin(members);
    return { write: { ...record, members, updateTime: nowText(clock) }, answer: undefined };
  });
}

function noSuchMember(): ConnectError {
  return new ConnectError('the organization has no such member', Code.NotFound);
}
