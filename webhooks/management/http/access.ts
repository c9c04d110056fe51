// Who may call a method of the management interface: an organization key, or a customer's token, with the role that the
// method needs in the organization of the path. Decided in memory, before anything else of the request is looked at.

import { Code, ConnectError } from '@connectrpc/connect';
import type { AccessRow } from '../../../platform/access/access-table.ts';
import { refusalError } from '../../../platform/access/auth-interceptor.ts';
import type { Authentication, CustomerAccess } from '../../../platform/access/authenticate.ts';
import { type PlaceOf, secondFactorFirst } from '../../../platform/access/customer-access.ts';
import {
  type OrganizationDirectory,
  type Place,
  type Role,
  roleCovers,
} from '../../../platform/access/organizations.ts';
import type { Caller } from './operation.ts';
import { failedPrecondition, noSuchOrganization } from './refusals.ts';

export interface AccessDeps {
  customers: CustomerAccess;
  /** An operator of the instance is an admin of every organization. */
  placeOf: PlaceOf;
  organizations: Pick<OrganizationDirectory, 'findKey'>;
  /** Whether the customer has proved to read their address. */
  isProven(customerId: string): boolean;
}

interface Needs {
  role: Role;
  proof: boolean;
}

/** Throws unauthenticated, not_found, permission_denied, failed_precondition or unavailable. */
export async function requireAccess(
  deps: AccessDeps,
  authorization: string | undefined,
  organizationId: string,
  needs: Needs,
): Promise<Caller> {
  const { id, place, customerId } = await holderOf(deps, authorization, organizationId);
  if (place === undefined) throw noSuchOrganization();
  if (place.lacksSecondFactor === true) throw refusalError(secondFactorFirst);
  if (!roleCovers(place.role, needs.role)) {
    throw new ConnectError('your role does not allow this', Code.PermissionDenied);
  }
  if (needs.proof && customerId !== undefined && !deps.isProven(customerId)) {
    throw failedPrecondition(
      'your e-mail address is not proven yet: sign in once by a link sent to it, or by a provider',
    );
  }
  const { projectIds } = place;
  return { id, organizationId, ...(projectIds !== undefined && { projectIds }) };
}

interface Holder {
  id: string;
  /** In the organization of the request; undefined where there is none. */
  place: Place | undefined;
  /** Absent for a key. */
  customerId?: string;
}

async function holderOf(
  { customers, placeOf, organizations }: AccessDeps,
  authorization: string | undefined,
  organizationId: string,
): Promise<Holder> {
  const credential = bearerOf(authorization);
  if (credential.startsWith('org_')) {
    const isKey = customers.isOrgKey(credential);
    if (isKey === 'unconfirmed') {
      throw new ConnectError('the credential cannot be checked now', Code.Unavailable);
    }
    const key = isKey ? organizations.findKey(credential) : undefined;
    if (key === undefined) throw notValid();
    const isOwn = key.organizationId === organizationId;
    return { id: key.keyId, place: isOwn ? { role: key.role } : undefined };
  }
  // No other key has a point, and every token has two.
  if (!credential.includes('.')) throw notValid();
  const { customerId } = customerOf(await customers.checkToken(credential, anyCustomer, undefined));
  return { id: customerId, place: placeOf(organizationId, customerId), customerId };
}

function bearerOf(authorization: string | undefined): string {
  if (!authorization) {
    throw unauthenticated(
      'no credential: send Authorization: Bearer and an organization key or a token',
    );
  }
  const [, credential] = /^bearer +(\S+) *$/i.exec(authorization) ?? [];
  if (credential !== undefined) return credential;
  throw unauthenticated(
    'the authorization header is not valid: send Authorization: Bearer <key or token>',
  );
}

/** The row of a method that any customer may call; the role in the organization is asked for here. */
const anyCustomer: AccessRow = {
  credentials: ['jwt'],
  scope: 'nothing',
  role: 'viewer',
  keyScope: 'all',
  maxBodyBytes: 0,
  growsRecords: false,
};

function customerOf(authentication: Authentication): { customerId: string } {
  switch (authentication.kind) {
    case 'customer':
      return authentication.customer;
    case 'refused':
      throw refusalError(authentication);
    case 'ok':
    case 'open':
      throw new Error('a token was checked for something else');
    default:
      return authentication satisfies never;
  }
}

function notValid(): ConnectError {
  return unauthenticated('the credential is not valid here: send an organization key or a token');
}

function unauthenticated(message: string): ConnectError {
  return new ConnectError(message, Code.Unauthenticated);
}
