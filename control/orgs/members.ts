// OrgsService.ListMembers, RemoveMember, UpdateMemberRole, UpdateMemberProjects and Leave: the members of an
// organization. Joining is accept-invite.ts's.

import { isDeepStrictEqual } from 'node:util';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  type MemberRecord,
  type OrganizationDirectory,
  type OrganizationRecord,
  placeOfMember,
  shareProject,
} from '../../platform/access/organizations.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Records } from '../../platform/records/change-record.ts';
import type {
  Member,
  RemoveMemberRequest,
  UpdateMemberProjectsRequest,
  UpdateMemberRoleRequest,
} from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import type { CustomerStore } from '../customers/customer-store.ts';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';
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
import { projectListField, refuseMoreProjectsNamed } from './project-list.ts';

export interface MembersDeps {
  organizations: Records<OrganizationRecord>;
  directory: Pick<OrganizationDirectory, 'get'>;
  customers: Pick<CustomerStore, 'get'>;
  byOrganization: ProjectsByOrganization;
  clock: Clock;
}

export function listMembers(
  { directory, customers }: Pick<MembersDeps, 'directory' | 'customers'>,
  signedIn: SignedInMember,
): { members: Member[] } {
  const record = directory.get(signedIn.organizationId);
  if (record === undefined) throw noSuchOrganization();
  const seen = record.members.filter((member) => shareProject(signedIn, placeOfMember(member)));
  const members = seen.flatMap((member) => {
    const customer = customers.get(member.customerId);
    return customer === undefined ? [] : [memberMessage(member, customer, signedIn)];
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
  deps: MembersDeps,
  request: UpdateMemberRoleRequest,
  signedIn: SignedInMember,
): Promise<{ member: Member }> {
  const role = roleField('role', request.role);
  // An admin has all projects, and keeps them when they are no admin any more.
  return changeMember(deps, request, signedIn, ({ customerId, ...before }) => {
    if (role === 'admin') return { customerId, role };
    return { customerId, ...placeOfMember(before), role };
  });
}

export async function updateMemberProjects(
  deps: MembersDeps,
  request: UpdateMemberProjectsRequest,
  signedIn: SignedInMember,
): Promise<{ member: Member }> {
  const { organizationId } = signedIn;
  return changeMember(deps, request, signedIn, ({ customerId, role }) => {
    const projectIds = projectListField(deps, request.projects, { organizationId, role });
    return { customerId, role, ...(projectIds !== undefined && { projectIds }) };
  });
}

/** Throws not_found where there is no such member, failed_precondition where no admin would be left. */
async function changeMember(
  { organizations, customers, clock }: MembersDeps,
  request: { customerId: string },
  signedIn: SignedInMember,
  decide: (before: MemberRecord) => MemberRecord,
): Promise<{ member: Member }> {
  const customerId = requiredField('customerId', request.customerId);
  const customer = customers.get(customerId);
  if (customer === undefined) throw noSuchMember();
  const member = await changeOrganization(organizations, signedIn.organizationId, (record) => {
    const before = record.members.find((one) => one.customerId === customerId);
    if (before === undefined) throw noSuchMember();
    const after = decide(before);
    if (isDeepStrictEqual(before, after)) return { leave: after };
    const members = record.members.map((one) => (one === before ? after : one));
    keepAnAdmin(members);
    const write = { ...record, members, updateTime: nowText(clock) };
    refuseMoreProjectsNamed(write);
    return { write, answer: after };
  });
  return { member: memberMessage(member, customer, signedIn) };
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
