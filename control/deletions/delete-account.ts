// CustomersService.Delete. Places in organizations go first, each only where an admin is left; then the request is
// written, organizations without anybody else are closed, and the account's own records are taken away.

import { Code, ConnectError } from '@connectrpc/connect';
import { canonicalEmail } from '../../platform/access/email-address.ts';
import type { OrganizationRecord } from '../../platform/access/organizations.ts';
import { askForDeletion } from '../../platform/erasure/ask-for-deletion.ts';
import { changeRecord } from '../../platform/records/change-record.ts';
import type { DeleteRequest } from '../../proto/gen/dashboard/customers/v1/customers_pb.js';
import type { SecondFactors } from '../auth/second-factor/second-factors.ts';
import type { CustomerRecord } from '../customers/customer-record.ts';
import {
  type CustomerDeps,
  noSuchCustomer,
  requirePresentPassword,
} from '../customers/customer-rpc.ts';
import type { CustomerStore } from '../customers/customer-store.ts';
import { nowText } from '../record-times.ts';
import { invalidArgument, requiredField } from '../request-fields.ts';
import type { SignedInSession } from '../signed-in-customer.ts';
import { closeOrganization } from './delete-organization.ts';
import type { DeletionDeps } from './deletion-deps.ts';

export type AccountDeletionDeps = DeletionDeps &
  Pick<CustomerDeps, 'passwords' | 'attempts'> & {
    customers: Pick<CustomerStore, 'get' | 'remove'>;
    secondFactors: SecondFactors;
  };

/**
 * Throws invalid_argument for another address, password or code than the account's, and failed_precondition where an
 * organization would be left without an admin.
 */
export async function deleteAccount(
  deps: AccountDeletionDeps,
  request: DeleteRequest,
  signedIn: SignedInSession,
): Promise<{ organizations: number }> {
  const { customers, directory, deletions, clock } = deps;
  const { customerId } = signedIn;
  const record = customers.get(customerId);
  if (record === undefined) throw noSuchCustomer();
  if (canonicalEmail(requiredField('email', request.email)) !== canonicalEmail(record.email)) {
    throw invalidArgument('email', 'is not the address of the account');
  }
  await requireSelf(deps, record, request, signedIn);
  const all = directory.organizationsOf(customerId).flatMap((id) => directory.get(id) ?? []);
  const [shared, own] = [all.filter(hasOthers), all.filter((one) => !hasOthers(one))];
  for (const organization of shared) withoutMember(organization, customerId);
  for (const { id } of shared) await leaveOrganization(deps, id, customerId);
  const whole = { kind: 'account', organizationId: '', displayName: '' } as const;
  await askForDeletion(deletions, { ...whole, id: customerId }, clock);
  for (const { id } of own) await closeOrganization(deps, id);
  await customers.remove(customerId);
  return { organizations: own.length };
}

function hasOthers({ members }: OrganizationRecord): boolean {
  return members.length > 1;
}

/** Whoever finds a browser that is signed in deletes nothing. */
async function requireSelf(
  deps: AccountDeletionDeps,
  { passwordHash, secondFactor }: CustomerRecord,
  { currentPassword, code }: DeleteRequest,
  signedIn: SignedInSession,
): Promise<void> {
  const { customerId, sessionId } = signedIn;
  if (secondFactor !== undefined) {
    const by = { kind: 'session', sessionId } as const;
    const used = await deps.secondFactors.use(customerId, requiredField('code', code), by);
    if (used === 'wrong') throw invalidArgument('code', 'is wrong, or was used');
  } else if (passwordHash !== undefined) {
    await requirePresentPassword(deps, passwordHash, currentPassword, signedIn);
  }
}

/** Throws failed_precondition, with the organization's name. */
function withoutMember(record: OrganizationRecord, customerId: string): OrganizationRecord {
  const members = record.members.filter((member) => member.customerId !== customerId);
  if (members.some(({ role }) => role === 'admin') || members.length === 0) {
    return { ...record, members };
  }
  throw new ConnectError(
    `you are the only admin of ${record.displayName}, which has other members: make one of them an admin, or delete it`,
    Code.FailedPrecondition,
  );
}

async function leaveOrganization(
  { organizations, clock }: DeletionDeps,
  id: string,
  customerId: string,
): Promise<void> {
  await changeRecord(organizations, id, (record) => {
    const left = withoutMember(record, customerId);
    if (left.members.length === record.members.length) return { leave: undefined };
    return { write: { ...left, updateTime: nowText(clock) }, answer: undefined };
  });
}
