// OrgsService.InviteMember, ListInvitations, ResendInvite and RevokeInvite: the invitations of an organization's
// admins. Accepting one is accept-invite.ts's, composing its mail ../mail/send-invitation.ts's.

import { Code, ConnectError } from '@connectrpc/connect';
import { newId, sha256 } from '../../platform/access/ids.ts';
import {
  type InvitationRecord,
  type OrganizationDirectory,
  type OrganizationRecord,
  shareProject,
} from '../../platform/access/organizations.ts';
import type { Clock } from '../../platform/clock.ts';
import { dayMs } from '../../platform/clock.ts';
import type { Records } from '../../platform/records/change-record.ts';
import type {
  Invitation,
  InviteMemberRequest,
  ResendInviteRequest,
  RevokeInviteRequest,
} from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import type { Attempts } from '../auth/attempts.ts';
import type { CustomerRecord } from '../customers/customer-record.ts';
import type { CustomerStore } from '../customers/customer-store.ts';
import { refuseUnproven } from '../customers/proven-customer.ts';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';
import { nowText } from '../record-times.ts';
import { emailField, requiredField } from '../request-fields.ts';
import type { SignedInMember } from '../signed-in-customer.ts';
import { type SentInvitation, withOneMoreSend } from './invitation-sends.ts';
import { invitationToken, newSecret, noSuchInvitation } from './invitation-token.ts';
import {
  changeOrganization,
  invitationMessage,
  maxInvitations,
  noSuchOrganization,
  roleField,
} from './org-record.ts';
import { projectListField, refuseMoreProjectsNamed } from './project-list.ts';

/** Queues an invitation's mail, and answers its link. */
export type SendInvitation = (invitation: {
  organization: OrganizationRecord;
  inviter: CustomerRecord;
  email: string;
  token: string;
  days: number;
}) => { link: string } | 'not queued';

export interface InvitationDeps {
  organizations: Records<OrganizationRecord>;
  directory: Pick<OrganizationDirectory, 'get'>;
  customers: Pick<CustomerStore, 'get' | 'findByEmail'>;
  byOrganization: ProjectsByOrganization;
  attempts: Pick<Attempts, 'invite'>;
  sendInvitation: SendInvitation;
  /** Whether the instance has a mail server of its own. */
  hasMailServer: boolean;
  clock: Clock;
}

/** `link` is for the admin who asked, where no mail server takes it to the invited person; else empty. */
interface InvitationAnswer {
  invitation: Invitation;
  link: string;
}

const lifetimeDays = 7;

export async function inviteMember(
  deps: InvitationDeps,
  request: InviteMemberRequest,
  signedIn: SignedInMember,
): Promise<InvitationAnswer> {
  const email = emailField('email', request.email);
  const role = roleField('role', request.role);
  const { organizationId } = signedIn;
  const projectIds = projectListField(deps, request.projects, { organizationId, role });
  refuseUnproven(deps.customers, signedIn);
  const nowMs = deps.clock.nowMs();
  const secret = newSecret();
  const invitation: InvitationRecord = {
    id: newId(),
    email,
    role,
    ...(projectIds !== undefined && { projectIds }),
    secretHash: sha256(secret),
    createTime: nowText(deps.clock),
    sendTime: nowText(deps.clock),
    expireTimeMs: nowMs + lifetimeDays * dayMs,
  };
  const known = deps.customers.findByEmail(email);
  deps.attempts.invite(signedIn.customerId, email);
  const sent = await changeOrganization(deps.organizations, signedIn.organizationId, (record) => {
    if (record.members.some(({ customerId }) => customerId === known?.id)) {
      throw new ConnectError('the address is a member already', Code.AlreadyExists);
    }
    const open = (record.invitations ?? []).filter(({ expireTimeMs }) => expireTimeMs > nowMs);
    if (open.some((other) => other.email === email)) {
      throw new ConnectError('the address is invited already: resend it', Code.AlreadyExists);
    }
    const others = (record.invitations ?? []).filter((other) => other.email !== email);
    if (open.length >= maxInvitations) {
      throw new ConnectError(
        `an organization has at most ${maxInvitations} open invitations`,
        Code.FailedPrecondition,
      );
    }
    // An expired one is kept to be sent again, until its place is needed.
    const isFull = others.length >= maxInvitations;
    const leaves = isFull ? others.find(({ expireTimeMs }) => expireTimeMs <= nowMs) : undefined;
    const kept = others.filter((other) => other !== leaves);
    const sending = { ...invitation, ...wayOut(deps, record) };
    const invitations = [...kept, sending];
    refuseMoreProjectsNamed({ ...record, invitations });
    return withOneMoreSend({ ...record, invitations }, sending, nowMs);
  });
  return posted(deps, sent, signedIn, secret);
}

export function listInvitations(
  { directory }: Pick<InvitationDeps, 'directory'>,
  signedIn: SignedInMember,
): { invitations: Invitation[] } {
  const record = directory.get(signedIn.organizationId);
  if (record === undefined) throw noSuchOrganization();
  return {
    invitations: (record.invitations ?? [])
      .filter((invitation) => shareProject(signedIn, invitation))
      .map((invitation) => invitationMessage(record.id, invitation, signedIn)),
  };
}

export async function resendInvite(
  deps: InvitationDeps,
  request: ResendInviteRequest,
  signedIn: SignedInMember,
): Promise<InvitationAnswer> {
  const id = requiredField('id', request.id);
  refuseUnproven(deps.customers, signedIn);
  const secret = newSecret();
  const nowMs = deps.clock.nowMs();
  const stored = await deps.organizations.ask(signedIn.organizationId);
  if (stored.kind !== 'found') throw noSuchOrganization();
  deps.attempts.invite(signedIn.customerId, invitationOf(stored.record, id).email);
  const sent = await changeOrganization(deps.organizations, signedIn.organizationId, (record) => {
    const before = invitationOf(record, id);
    const invitation = {
      ...before,
      secretHash: sha256(secret),
      sendTime: nowText(deps.clock),
      expireTimeMs: nowMs + lifetimeDays * dayMs,
      ...wayOut(deps, record),
    };
    const invitations = (record.invitations ?? []).map((other) =>
      other.id === id ? invitation : other,
    );
    return withOneMoreSend({ ...record, invitations }, invitation, nowMs);
  });
  return posted(deps, sent, signedIn, secret);
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

/** Who sees the newest link: the reader of the mail, a mail server of the organization, or the admin who asks. */
function wayOut(
  { hasMailServer }: Pick<InvitationDeps, 'hasMailServer'>,
  { emailProvider }: OrganizationRecord,
): Pick<InvitationRecord, 'provesAddress' | 'isHandedOver'> {
  const isInstances = emailProvider === undefined;
  return {
    provesAddress: isInstances && hasMailServer,
    isHandedOver: isInstances && !hasMailServer,
  };
}

function posted(
  deps: InvitationDeps,
  sent: SentInvitation,
  signedIn: SignedInMember,
  secret: string,
): InvitationAnswer {
  const { organization, invitation } = sent;
  const inviter = deps.customers.get(signedIn.customerId);
  if (inviter === undefined) throw new Error('the caller has no record');
  const token = invitationToken(organization.id, invitation.id, secret);
  const { email } = invitation;
  const mail = deps.sendInvitation({ organization, inviter, email, token, days: lifetimeDays });
  if (mail === 'not queued') {
    throw new ConnectError(
      'the invitation is stored, but its mail could not be sent: resend it later',
      Code.Unavailable,
    );
  }
  return {
    invitation: invitationMessage(organization.id, invitation, signedIn),
    link: invitation.isHandedOver === true ? mail.link : '',
  };
}

function invitationOf(record: OrganizationRecord, id: string): InvitationRecord {
  const found = record.invitations?.find((invitation) => invitation.id === id);
  if (found === undefined) throw noSuchInvitation();
  return found;
}
