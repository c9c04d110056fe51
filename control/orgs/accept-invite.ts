// OrgsService.AcceptInvite: a customer joins the organization that invited their address. The mail's token is good
// once, and only for the address it went to.

import { Code, ConnectError } from '@connectrpc/connect';
import { sha256 } from '../../platform/access/ids.ts';
import type { InvitationRecord, OrganizationRecord } from '../../platform/access/organizations.ts';
import type { Clock } from '../../platform/clock.ts';
import type {
  AcceptInviteRequest,
  Member,
  Org,
} from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { changeRecord, type Records } from '../change-record.ts';
import type { CustomerStore } from '../customers/customer-store.ts';
import { requiredField } from '../request-fields.ts';
import type { SignedInCustomer } from '../signed-in-customer.ts';
import { noSuchInvitation, readInvitationToken } from './invitation-token.ts';
import { maxMembers, memberMessage, orgMessage } from './org-record.ts';

interface AcceptInviteDeps {
  organizations: Records<OrganizationRecord>;
  customers: Pick<CustomerStore, 'get'>;
  clock: Clock;
}

export async function acceptInvite(
  { organizations, customers, clock }: AcceptInviteDeps,
  request: AcceptInviteRequest,
  signedIn: SignedInCustomer,
): Promise<{ org: Org; member: Member }> {
  const token = requiredField('token', request.token);
  const read = readInvitationToken(token);
  const customer = customers.get(signedIn.customerId);
  if (read === undefined || customer === undefined) throw noSuchInvitation();
  const { organizationId, invitationId, secret } = read;
  const nowMs = clock.nowMs();
  const result = await changeRecord(organizations, organizationId, (record) => {
    const invitation = record.invitations?.find(({ id }) => id === invitationId);
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
  // A member keeps the role that an admin gave them before.
  const member = before ?? { customerId, role: invitation.role };
  const write: OrganizationRecord = {
    ...record,
    members: before === undefined ? [...record.members, member] : record.members,
    invitations: (record.invitations ?? []).filter(({ id }) => id !== invitation.id),
    updateTime: new Date(nowMs).toISOString(),
  };
  return { write, answer: { organization: write, member } };
}
