// OrgsService.AcceptInvite: a customer joins the organization that invited their address. The mail's token is good
// once, and only for the address it went to. To an unproven account a mail is also the proof of its address, which ends
// the caller's session too: the caller may have signed in with a stranger's password. A link that an admin handed over
// proves nothing, and the account stays unproven.

import { Code, ConnectError } from '@connectrpc/connect';
import { canonicalEmail } from '../../platform/access/email-address.ts';
import { sha256 } from '../../platform/access/ids.ts';
import type {
  InvitationRecord,
  OrganizationDirectory,
  OrganizationRecord,
  Place,
} from '../../platform/access/organizations.ts';
import type { Clock } from '../../platform/clock.ts';
import { changeRecord, type Records } from '../../platform/records/change-record.ts';
import type {
  AcceptInviteRequest,
  Member,
  Org,
} from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import type { CustomerStore } from '../customers/customer-store.ts';
import { type ProveCustomer, unproven } from '../customers/proven-customer.ts';
import { requiredField } from '../request-fields.ts';
import type { SignedInCustomer } from '../signed-in-customer.ts';
import { noSuchInvitation, readInvitationToken } from './invitation-token.ts';
import { maxMembers, memberMessage, orgMessage, refuseMoreOrganizations } from './org-record.ts';

export interface AcceptInviteDeps {
  organizations: Records<OrganizationRecord>;
  directory: Pick<OrganizationDirectory, 'organizationsOf'>;
  customers: Pick<CustomerStore, 'get'>;
  proveCustomer: ProveCustomer;
  clock: Clock;
}

export async function acceptInvite(
  { organizations, directory, customers, proveCustomer, clock }: AcceptInviteDeps,
  request: AcceptInviteRequest,
  signedIn: SignedInCustomer,
): Promise<{ org: Org; member: Member }> {
  const token = requiredField('token', request.token);
  const read = readInvitationToken(token);
  const customer = customers.get(signedIn.customerId);
  if (read === undefined || customer === undefined) throw noSuchInvitation();
  const { organizationId, invitationId, secret } = read;
  const nowMs = clock.nowMs();
  const invitationIn = (record: OrganizationRecord): InvitationRecord => {
    const invitation = record.invitations?.find(({ id }) => id === invitationId);
    const good =
      invitation !== undefined &&
      invitation.secretHash === sha256(secret) &&
      invitation.expireTimeMs > nowMs;
    if (!good) throw noSuchInvitation();
    if (canonicalEmail(invitation.email) !== canonicalEmail(customer.email)) {
      throw new ConnectError(
        'the invitation went to another address than yours',
        Code.PermissionDenied,
      );
    }
    // An organization that its maker leaves to another account counts as the other's: the bound holds for both.
    const own = directory.organizationsOf(customer.id);
    if (!own.includes(organizationId)) refuseMoreOrganizations(own.length);
    return invitation;
  };
  if (!customer.emailVerified) {
    const stored = await organizations.ask(organizationId);
    if (stored.kind !== 'found') throw noSuchInvitation();
    const { provesAddress, isHandedOver } = invitationIn(stored.record);
    if (provesAddress === true) await proveCustomer(customer.id);
    // An admin handed the link over: its bearer is who they want, whoever reads the address's mail. Nothing is proven.
    else if (isHandedOver !== true) throw unproven();
  }
  const result = await changeRecord(organizations, organizationId, (record) =>
    accepted(record, invitationIn(record), customer.id, nowMs),
  );
  if (result.kind === 'absent') throw noSuchInvitation();
  const { organization, member } = result.answer;
  const lacks = organization.requiresSecondFactor === true && customer.secondFactor === undefined;
  const place: Place = { role: member.role, ...(lacks && { lacksSecondFactor: true }) };
  return {
    org: orgMessage(organization, place),
    member: memberMessage(member, customer, member),
  };
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
  // A member keeps the place that an admin gave them before.
  const { role, projectIds } = invitation;
  const member = before ?? { customerId, role, ...(projectIds !== undefined && { projectIds }) };
  const write: OrganizationRecord = {
    ...record,
    members: before === undefined ? [...record.members, member] : record.members,
    invitations: (record.invitations ?? []).filter(({ id }) => id !== invitation.id),
    updateTime: new Date(nowMs).toISOString(),
  };
  return { write, answer: { organization: write, member } };
}
