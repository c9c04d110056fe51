// The messages that show an organization's record, and the rules and steps that several methods of OrgsService share.
// The record's type is platform/access/organizations.ts's.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  type InvitationRecord,
  type MemberRecord,
  mayUse,
  type OrganizationRecord,
  type OrgKeyRecord,
  type Place,
  placeOfMember,
  type Role,
} from '../../platform/access/organizations.ts';
import { type Change, changeRecord, type Records } from '../../platform/records/change-record.ts';
import {
  type Invitation,
  InvitationSchema,
  type Member,
  MemberSchema,
  type Org,
  type OrgKey,
  OrgKeySchema,
  OrgSchema,
  ProjectListSchema,
  Role as RoleValue,
} from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import type { CustomerRecord } from '../customers/customer-record.ts';
import { timestampOf } from '../record-times.ts';
import { invalidArgument } from '../request-fields.ts';

/** Bounds of one record, so that it stays far below the bucket's largest value. */
export const maxMembers = 1_000;
export const maxInvitations = 200;
export const maxOrgKeys = 50;
const maxOrganizationsPerCustomer = 50;

export function newOrganization(options: {
  id: string;
  displayName: string;
  adminId: string;
  now: string;
}): OrganizationRecord {
  return {
    schemaVersion: 1,
    id: options.id,
    displayName: options.displayName,
    creatorId: options.adminId,
    createTime: options.now,
    updateTime: options.now,
    members: [{ customerId: options.adminId, role: 'admin' }],
  };
}

/** Changes an organization's record by compare-and-set; throws not_found if there is none. */
export async function changeOrganization<R>(
  organizations: Records<OrganizationRecord>,
  id: string,
  decide: (record: OrganizationRecord) => Change<OrganizationRecord, R>,
): Promise<R> {
  const result = await changeRecord(organizations, id, decide);
  if (result.kind === 'absent') throw noSuchOrganization();
  return result.answer;
}

/** Throws failed_precondition at the bound: one customer must not fill the broker. */
export function refuseMoreOrganizations(count: number): void {
  if (count < maxOrganizationsPerCustomer) return;
  throw new ConnectError(
    `a customer is in at most ${maxOrganizationsPerCustomer} organizations`,
    Code.FailedPrecondition,
  );
}

/** Also the answer for an organization of other people, so that it does not tell that there is one. */
export function noSuchOrganization(): ConnectError {
  return new ConnectError('there is no such organization', Code.NotFound);
}

/** Throws failed_precondition if no admin is left. */
export function keepAnAdmin(members: readonly MemberRecord[]): void {
  if (members.some(({ role }) => role === 'admin')) return;
  throw new ConnectError(
    'the last admin of an organization cannot be removed or demoted',
    Code.FailedPrecondition,
  );
}

export function roleField(field: string, value: RoleValue): Role {
  switch (value) {
    case RoleValue.VIEWER:
      return 'viewer';
    case RoleValue.MEMBER:
      return 'member';
    case RoleValue.ADMIN:
      return 'admin';
    default:
      // Numbers that this version does not know come here too.
      throw invalidArgument(field, 'must be ROLE_VIEWER, ROLE_MEMBER or ROLE_ADMIN');
  }
}

function roleValue(role: Role): RoleValue {
  return { viewer: RoleValue.VIEWER, member: RoleValue.MEMBER, admin: RoleValue.ADMIN }[role];
}

export function orgMessage(record: OrganizationRecord, callersPlace: Place): Org {
  return create(OrgSchema, {
    id: record.id,
    displayName: record.displayName,
    createTime: timestampOf(record.createTime),
    updateTime: timestampOf(record.updateTime),
    role: roleValue(callersPlace.role),
    requiresSecondFactor: record.requiresSecondFactor === true,
    lacksSecondFactor: callersPlace.lacksSecondFactor === true,
  });
}

/** As somebody with the place `shownTo` sees them. */
export function memberMessage(
  member: MemberRecord,
  customer: CustomerRecord,
  shownTo: Place,
): Member {
  const { customerId, role } = member;
  const { email, displayName } = customer;
  return create(MemberSchema, {
    ...{ customerId, email, displayName, role: roleValue(role) },
    ...projectsShown(placeOfMember(member), shownTo),
    ...(shownTo.role === 'admin' && { hasSecondFactor: customer.secondFactor !== undefined }),
  });
}

/** As somebody with the place `shownTo` sees it. */
export function invitationMessage(
  orgId: string,
  invitation: InvitationRecord,
  shownTo: Pick<Place, 'projectIds'>,
): Invitation {
  return create(InvitationSchema, {
    ...projectsShown(invitation, shownTo),
    orgId,
    id: invitation.id,
    email: invitation.email,
    role: roleValue(invitation.role),
    createTime: timestampOf(invitation.createTime),
    updateTime: timestampOf(invitation.sendTime),
    expireTime: timestampFromMs(invitation.expireTimeMs),
  });
}

function projectsShown(
  { projectIds }: Pick<Place, 'projectIds'>,
  shownTo: Pick<Place, 'projectIds'>,
) {
  if (projectIds === undefined) return {};
  const shown = projectIds.filter((projectId) => mayUse(shownTo, projectId));
  return { projects: create(ProjectListSchema, { projectIds: shown }) };
}

export function orgKeyMessage(key: OrgKeyRecord): OrgKey {
  return create(OrgKeySchema, {
    id: key.id,
    displayName: key.displayName,
    role: roleValue(key.role),
    createTime: timestampOf(key.createTime),
  });
}
