// OrgsService.CreateOrgKey, ListOrgKeys and RevokeOrgKey: keys of the webhook interface.

import { Code, ConnectError } from '@connectrpc/connect';
import { newId, newOrgKey, sha256 } from '../../platform/access/ids.ts';
import type {
  OrganizationDirectory,
  OrganizationRecord,
  OrgKeyRecord,
} from '../../platform/access/organizations.ts';
import type { Clock } from '../../platform/clock.ts';
import type {
  CreateOrgKeyRequest,
  OrgKey,
  RevokeOrgKeyRequest,
} from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import type { MemberCaller } from '../caller.ts';
import type { Records } from '../change.ts';
import { optionalDisplayNameField, requiredField } from '../fields.ts';
import { nowText } from '../times.ts';
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
  clock: Clock;
}

export async function createOrgKey(
  { organizations, clock }: OrgKeysDeps,
  request: CreateOrgKeyRequest,
  caller: MemberCaller,
): Promise<{ orgKey: OrgKey; key: string }> {
  const displayName = optionalDisplayNameField('displayName', request.displayName);
  const role = roleField('role', request.role);
  const rawKey = newOrgKey();
  const createTime = nowText(clock);
  const key: OrgKeyRecord = { id: newId(), displayName, role, hash: sha256(rawKey), createTime };
  await changeOrganization(organizations, caller.organizationId, (record) => {
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
  caller: MemberCaller,
): { orgKeys: OrgKey[] } {
  const record = directory.get(caller.organizationId);
  if (record === undefined) throw noSuchOrganization();
  return { orgKeys: (record.keys ?? []).map(orgKeyMessage) };
}

export async function revokeOrgKey(
  { organizations, clock }: OrgKeysDeps,
  request: RevokeOrgKeyRequest,
  caller: MemberCaller,
): Promise<Record<string, never>> {
  const id = requiredField('id', request.id);
  await changeOrganization(organizations, caller.organizationId, (record) => {
    const before = record.keys ?? [];
    const keys = before.filter((key) => key.id !== id);
    if (keys.length === before.length) {
      throw new ConnectError('the organization has no such key', Code.NotFound);
    }
    return { write: { ...record, keys, updateTime: nowText(clock) }, answer: undefined };
  });
  return {};
}
