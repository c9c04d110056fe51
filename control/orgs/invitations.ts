// OrgsService.InviteMember, ListInvitations, ResendInvite, RevokeInvite and AcceptInvite. The token in a mail names the
// organization and the invitation and carries a secret that is kept hashed; a mail sent again has a new one.

import { randomBytes } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import { newId, sha256 } from '../../platform/access/ids.ts';
import type {
  InvitationRecord,
  OrganizationDirectory,
  OrganizationRecord,
} from '../../platform/access/organizations.ts';
import type { Clock } from '../../platform/clock.ts';
import { dayMs } from '../../platform/clock.ts';
import type {
  AcceptInviteRequest,
  Invitation,
  InviteMemberRequest,
  Member,
  Org,
  ResendInviteRequest,
  RevokeInviteRequest,
} from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import type { Attempts } from '../auth/attempts.ts';
import { type Change, changeRecord, type Records } from '../change-record.ts';
import type { CustomerRecord } from '../customers/customer-record.ts';
import type { CustomerStore } from '../customers/customer-store.ts';
import { nowText } from '../record-times.ts';
import { emailField, requiredField } from '../request-fields.ts';
import type { SignedInCustomer, SignedInMember } from '../signed-in-customer.ts';
import {
  changeOrganization,
  invitationMessage,
  maxInvitations,
  maxMembers,
  memberMessage,
  noSuchOrganization,
  orgMessage,
  roleField,
} from './org-record.ts';

/** Queues the mail; false where it cannot be queued. */
export type SendInvitation = (invitation: {
  organization: OrganizationRecord;
  inviter: CustomerRecord;
  email: string;
  token: string;
  days: number;
}) => boolean;

export interface InvitationDeps {
  organizations: Records<OrganizationRecord>;
  directory: Pick<OrganizationDirectory, 'get'>;
  customers: Pick<CustomerStore, 'get' | 'findByEmail'>;
  attempts: Pick<Attempts, 'invite'>;
  sendInvitation: SendInvitation;
  clock: Clock;
}

const lifetimeDays = 7;
const maxSendsPerDay = 10;
/** Of one organization to all addresses: whoever signs up must not send the world mail, nor fill the record. */
const maxSendsInAllPerDay = 500;
const tokenPattern = /^inv_([0-9a-f-]{36})\.([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/;

type Outcome = { organization: OrganizationRecord; invitation: InvitationRecord };

export async function inviteMember(
  deps: InvitationDeps,
  request: InviteMemberRequest,
  signedIn: SignedInMember,
): Promise<{ invitation: Invitation }> {
  const email = emailField('email', request.email);
  const role = roleField('role', request.role);
  const nowMs = deps.clock.nowMs();
  const secret = newSecret();
  const invitation: InvitationRecord = {
    id: newId(),
    email,
    role,
    secretHash: sha256(secret),
    createTime: nowText(deps.clock),
    sendTime: nowText(deps.clock),
    expireTimeMs: nowMs + lifetimeDays * dayMs,
  };
  const known = deps.customers.findByEmail(email);
  deps.attempts.invite(signedIn.customerId, email);
  const outcome = await changeOrganization(
    deps.organizations,
    signedIn.organizationId,
    (record) => {
      if (record.members.some(({ customerId }) => customerId === known?.id)) {
        throw new ConnectError('the address is a member already', Code.AlreadyExists);
      }
      const open = (record.invitations ?? []).filter(({ expireTimeMs }) => expireTimeMs > nowMs);
      if (open.some((other) => other.email === email)) {
        throw new ConnectError('the address is invited already: resend it', Code.AlreadyExists);
      }
      const others = (record.invitations ?? []).filter((other) => other.email !== email);
      if (others.length >= maxInvitations) {
        throw new ConnectError(
          `an organization has at most ${maxInvitations} open invitations`,
          Code.FailedPrecondition,
        );
      }
      return sent({ ...record, invitations: [...others, invitation] }, invitation, nowMs);
    },
  );
  post(deps, outcome, signedIn, secret);
  return { invitation: invitationMessage(signedIn.organizationId, invitation) };
}

export function listInvitations(
  { directory }: Pick<InvitationDeps, 'directory'>,
  signedIn: SignedInMember,
): { invitations: Invitation[] } {
  const record = directory.get(signedIn.organizationId);
  if (record === undefined) throw noSuchOrganization();
  return {
    invitations: (record.invitations ?? []).map((invitation) =>
      invitationMessage(record.id, invitation),
    ),
  };
}

export async function resendInvite(
  deps: InvitationDeps,
  request: ResendInviteRequest,
  signedIn: SignedInMember,
): Promise<{ invitation: Invitation }> {
  const id = requiredField('id', request.id);
  const secret = newSecret();
  const nowMs = deps.clock.nowMs();
  const stored = await deps.organizations.ask(signedIn.organizationId);
  if (stored.kind !== 'found') throw noSuchOrganization();
  deps.attempts.invite(signedIn.customerId, invitationOf(stored.record, id).email);
  const outcome = await changeOrganization(
    deps.organizations,
    signedIn.organizationId,
    (record) => {
      const before = invitationOf(record, id);
      const invitation = {
        ...before,
        secretHash: sha256(secret),
        sendTime: nowText(deps.clock),
        expireTimeMs: nowMs + lifetimeDays * dayMs,
      };
      const invitations = (record.invitations ?? []).map((other) =>
        other.id === id ? invitation : other,
      );
      return sent({ ...record, invitations }, invitation, nowMs);
    },
  );
  post(deps, outcome, signedIn, secret);
  return { invitation: invitationMessage(signedIn.organizationId, outcome.invitation) };
}

export async function revokeInvite(
  { organizations, clock }: InvitationDeps,
  request: RevokeInviteRequest,
  signedIn: SignedInMember,
): Promise<Record<string, never>> {
  const id = requiredField('id', request.id);
  await changeOrganization(organizations, signedIn.organizationId, (record) => {
    const invitations = (record.invitations ?? []).filter((invitation) => invitation.id !== id);
    if (invitations.length === (record.invitations ?? []).length) throw noSuchInvitation();
    return { write: { ...record, invitations, updateTime: nowText(clock) }, answer: undefined };
  });
  return {};
}

export async function acceptInvite(
  { organizations, customers, clock }: InvitationDeps,
  request: AcceptInviteRequest,
  signedIn: SignedInCustomer,
): Promise<{ org: Org; member: Member }> {
  const token = requiredField('token', request.token);
  const [, organizationId = '', id = '', secret = ''] = tokenPattern.exec(token) ?? [];
  const customer = customers.get(signedIn.customerId);
  if (organizationId === '' || customer === undefined) throw noSuchInvitation();
  const nowMs = clock.nowMs();
  const result = await changeRecord(organizations, organizationId, (record) => {
    const invitation = record.invitations?.find((other) => other.id === id);
    const good =
      invitation !== undefined &&
      invitation.secretHash === sha256(secret) &&
      invitation.expireTimeMs > nowMs;
    if (!good) throw noSuchInvitation();
    if (invitation.email !== customer.email) {
      throw new ConnectError(
        'the invitation went to another address than yours',
        Code.PermissionDenied,
      );
    }
    return accepted(record, invitation, customer.id, nowMs);
  });
  if (result.kind === 'absent') throw noSuchInvitation();
  const { organization, member } = result.answer;
  return { org: orgMessage(organization, member.role), member: memberMessage(member, customer) };
}

function accepted(
  record: OrganizationRecord,
  invitation: InvitationRecord,
  customerId: string,
  nowMs: number,
) {
  const before = record.members.find((member) => member.customerId === customerId);
  if (before === undefined && record.members.length >= maxMembers) {
    throw new ConnectError(
      `an organization has at most ${maxMembers} members`,
      Code.FailedPrecondition,
    );
  }
  // Whoever is a member already keeps the role that an admin gave them.
  const member = before ?? { customerId, role: invitation.role };
  const write: OrganizationRecord = {
    ...record,
    members: before === undefined ? [...record.members, member] : record.members,
    invitations: (record.invitations ?? []).filter(({ id }) => id !== invitation.id),
    updateTime: new Date(nowMs).toISOString(),
  };
  return { write, answer: { organization: write, member } };
}

/** The record with one more send to the address; resource_exhausted where there were too many to it, or to all. */
function sent(
  record: OrganizationRecord,
  invitation: InvitationRecord,
  nowMs: number,
): Change<OrganizationRecord, Outcome> {
  const recent: Record<string, readonly number[]> = {};
  for (const [address, times] of Object.entries(record.inviteSends ?? {})) {
    const kept = times.filter((atMs) => nowMs - atMs < dayMs);
    if (kept.length > 0) recent[address] = kept;
  }
  const key = sha256(invitation.email);
  const times = recent[key] ?? [];
  refuseMoreSends(times, maxSendsPerDay, 'to one address', nowMs);
  refuseMoreSends(Object.values(recent).flat(), maxSendsInAllPerDay, 'out', nowMs);
  const write = {
    ...record,
    inviteSends: { ...recent, [key]: [...times, nowMs] },
    updateTime: new Date(nowMs).toISOString(),
  };
  return { write, answer: { organization: write, invitation } };
}

function refuseMoreSends(
  times: readonly number[],
  max: number,
  where: string,
  nowMs: number,
): void {
  if (times.length < max) return;
  const waitMs = Math.min(...times) + dayMs - nowMs;
  throw new ConnectError(
    `at most ${max} invitations go ${where} in 24 hours`,
    Code.ResourceExhausted,
    { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
  );
}

function post(
  deps: InvitationDeps,
  outcome: Outcome,
  signedIn: SignedInCustomer,
  secret: string,
): void {
  const { organization, invitation } = outcome;
  const inviter = deps.customers.get(signedIn.customerId);
  if (inviter === undefined) throw new Error('the caller has no record');
  const token = `inv_${organization.id}.${invitation.id}.${secret}`;
  const { email } = invitation;
  if (deps.sendInvitation({ organization, inviter, email, token, days: lifetimeDays })) return;
  throw new ConnectError(
    'the invitation is stored, but its mail could not be sent: resend it later',
    Code.Unavailable,
  );
}

function invitationOf(record: OrganizationRecord, id: string): InvitationRecord {
  const found = record.invitations?.find((invitation) => invitation.id === id);
  if (found === undefined) throw noSuchInvitation();
  return found;
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

function noSuchInvitation(): ConnectError {
  return new ConnectError('the invitation is unknown, expired, revoked or used', Code.NotFound);
}
