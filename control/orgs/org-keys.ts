// OrgsService.CreateOrgKey, ListOrgKeys and RevokeOrgKey: an organization's keys, for its webhooks' interface. A
// project's keys are ../projects/project-record.ts's.

import { Code, ConnectError } from '@connectrpc/connect';
import { newId, newOrgKey, sha256 } from '../../platform/access/ids.ts';
import type {
  OrganizationDirectory,
  OrganizationRecord,
  OrgKeyRecord,
} from '../../platform/access/organizations.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Records } from '../../platform/records/change-record.ts';
import type {
  CreateOrgKeyRequest,
  OrgKey,
  RevokeOrgKeyRequest,
} from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import type { CustomerStore } from '../customers/customer-store.ts';
import { refuseUnproven } from '../customers/proven-customer.ts';
import { nowText } from '../record-times.ts';
import { optionalDisplayNameField, requiredField } from '../request-fields.ts';
import type { SignedInMember } from '../signed-in-customer.ts';
import {
  changeOrganization,
  maxOrgKeys,
  noSuchOrganization,
  orgKeyMessage,
  roleField,
} from './org-record.ts';

export interface OrgKeysDeps {
  organizations: Records<OrganizationRecord>;
  directory: Pick<OrganizationDirectory, 'get'>;
  customers: Pick<CustomerStore, 'get'>;
  clock: Clock;
}

export async function createOrgKey(
  { organizations, customers, clock }: OrgKeysDeps,
  request: CreateOrgKeyRequest,
  signedIn: SignedInMember,
): Promise<{ orgKey: OrgKey; key: string }> {
  const displayName = optionalDisplayNameField('displayName', request.displayName);
  const role = roleField('role', request.role);
  refuseUnproven(customers, signedIn);
  const rawKey = newOrgKey();
  const createTime = nowText(clock);
  const key: OrgKeyRecord = { id: newId(), displayName, role, hash: sha256(rawKey), createTime };
  await changeOrganization(organizations, signedIn.organizationId, (record) => {
    const before = record.keys ?? [];
    if (before.length >= maxOrgKeys) {
      throw new ConnectError(
        `an organization has at most ${maxOrgKeys} keys: revoke one first`,
        Code.FailedPrecondition,
      );
    }
    const keys = [...before, key];
    return { write: { ...record, keys, updateTime: createTime }, answer: undefined };
  });
  return { orgKey: orgKeyMessage(key), key: rawKey };
}

export function listOrgKeys(
  { directory }: Pick<OrgKeysDeps, 'directory'>,
  signedIn: SignedInMember,
): { orgKeys: OrgKey[] } {
  const record = directory.get(signedIn.organizationId);
  if (record === undefined) throw noSuchOrganization();
  return { orgKeys: (record.keys ?? []).map(orgKeyMessage) };
}

export async function revokeOrgKey(
  { organizations, clock }: Pick<OrgKeysDeps, 'organizations' | 'clock'>,
  request: RevokeOrgKeyRequest,
  signedIn: SignedInMember,
): Promise<Record<string, never>> {
  const id = requiredField('id', request.id);
  await changeOrganization(organizations, signedIn.organizationId, (record) => {
    const before = record.keys ?? [];
    const keys = before.filter((key) => key.id !== id);
    if (keys.length === before.length) {
      throw new ConnectError('the organization has no such key', Code.NotFound);
    }
    return { write: { ...record, keys, updateTime: nowText(clock) }, answer: undefined };
  });
  return {};
}
