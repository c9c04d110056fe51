// CustomersService: lists and gets the members of the signed-in customer's organizations; updates that customer alone.

import { Code, ConnectError } from '@connectrpc/connect';
import type { PlaceOf } from '../../platform/access/customer-access.ts';
import { placeIn } from '../../platform/access/organization-interceptor.ts';
import {
  type OrganizationDirectory,
  type Place,
  placeOfMember,
  shareProject,
} from '../../platform/access/organizations.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Customer } from '../../proto/gen/dashboard/customers/v1/customer_pb.js';
import type {
  GetRequest,
  ListRequest,
  UpdateRequest,
} from '../../proto/gen/dashboard/customers/v1/customers_pb.js';
import type { Attempts } from '../auth/attempts.ts';
import type { Passwords } from '../auth/passwords.ts';
import { displayNameField, invalidArgument, newPasswordField } from '../request-fields.ts';
import type { SignedInCustomer, SignedInSession } from '../signed-in-customer.ts';
import { type CustomerRecord, customerMessage, withoutSessions } from './customer-record.ts';
import type { CustomerStore } from './customer-store.ts';

export interface CustomerDeps {
  customers: Pick<CustomerStore, 'get' | 'change'>;
  directory: Pick<OrganizationDirectory, 'get' | 'organizationsOf' | 'placeOf'>;
  placeOf: PlaceOf;
  passwords: Passwords;
  attempts: Pick<Attempts, 'password'>;
  clock: Clock;
}

const defaultPageSize = 100;
const maxPageSize = 1_000;

export function listCustomers(
  { customers, directory, placeOf }: Pick<CustomerDeps, 'customers' | 'directory' | 'placeOf'>,
  request: ListRequest,
  signedIn: SignedInCustomer,
): { customers: Customer[]; nextPageToken: string } {
  const { orgId, pageSize, pageToken } = request;
  if (pageSize < 0 || pageSize > maxPageSize) {
    throw invalidArgument('pageSize', `must be at most ${maxPageSize}`);
  }
  if (orgId !== '') placeIn(placeOf, orgId, signedIn.customerId);
  const after = Buffer.from(pageToken, 'base64url').toString('utf8');
  if (pageToken !== '' && !/^[0-9a-f-]{36}$/.test(after)) {
    throw invalidArgument('pageToken', 'must be a nextPageToken of this method');
  }
  const size = pageSize === 0 ? defaultPageSize : pageSize;
  const organizations = orgId === '' ? directory.organizationsOf(signedIn.customerId) : [orgId];
  const ids = new Set(
    organizations.flatMap((id) => memberIds(directory, id, placeOf(id, signedIn.customerId))),
  );
  if (orgId === '') ids.add(signedIn.customerId);
  const rest = [...ids].sort().filter((id) => id > after);
  const page = rest.slice(0, size);
  const last = rest.length > size ? page.at(-1) : undefined;
  return {
    customers: page.flatMap((id) => {
      const record = customers.get(id);
      return record === undefined ? [] : [customerMessage(record)];
    }),
    nextPageToken: last === undefined ? '' : Buffer.from(last).toString('base64url'),
  };
}

export function getCustomer(
  { customers, directory, placeOf }: Pick<CustomerDeps, 'customers' | 'directory' | 'placeOf'>,
  request: GetRequest,
  signedIn: SignedInCustomer,
): { customer: Customer } {
  const id = request.id === '' ? signedIn.customerId : request.id;
  const together =
    id === signedIn.customerId ||
    directory.organizationsOf(signedIn.customerId).some((organizationId) => {
      const other = directory.placeOf(organizationId, id);
      return other !== undefined && sees(placeOf(organizationId, signedIn.customerId), other);
    });
  const record = together ? customers.get(id) : undefined;
  if (record === undefined) throw noSuchCustomer();
  return { customer: customerMessage(record) };
}

export async function updateCustomer(
  deps: CustomerDeps,
  request: UpdateRequest,
  signedIn: SignedInSession,
): Promise<{ customer: Customer }> {
  const { customers, clock } = deps;
  if (request.id !== '' && request.id !== signedIn.customerId) throw noSuchCustomer();
  const displayName =
    request.displayName === undefined
      ? undefined
      : displayNameField('displayName', request.displayName);
  const known = customers.get(signedIn.customerId);
  if (known === undefined) throw noSuchCustomer();
  const passwordHash = await newPasswordHash(deps, request, known, signedIn);
  const record = await customers.change(signedIn.customerId, (before) => {
    if (displayName === undefined && passwordHash === undefined) return before;
    // While the hashes waited in their queue all sessions may have ended, this one too.
    if (before.sessionsFromMs !== known.sessionsFromMs) throw sessionOver();
    const named = { ...before, ...(displayName !== undefined && { displayName }) };
    if (passwordHash === undefined) return named;
    return { ...withoutSessions(named, clock.nowMs()), passwordHash };
  });
  if (record === undefined) throw noSuchCustomer();
  return { customer: customerMessage(record) };
}

/** Undefined if the request leaves the password as it is. */
async function newPasswordHash(
  deps: CustomerDeps,
  request: UpdateRequest,
  { passwordHash }: CustomerRecord,
  signedIn: SignedInSession,
): Promise<string | undefined> {
  if (request.password === undefined) return undefined;
  const password = newPasswordField('password', request.password);
  if (passwordHash !== undefined) {
    await requirePresentPassword(deps, passwordHash, request.currentPassword ?? '', signedIn);
  }
  return deps.passwords.hash(password, { kind: 'session', from: signedIn.customerId });
}

/** Throws invalid_argument where the request's `currentPassword` is another one. */
export async function requirePresentPassword(
  { passwords, attempts }: Pick<CustomerDeps, 'passwords' | 'attempts'>,
  passwordHash: string,
  currentPassword: string,
  { customerId, sessionId }: SignedInSession,
): Promise<void> {
  const { right } = await attempts.password({ kind: 'session', sessionId });
  const caller = { kind: 'session', from: customerId } as const;
  const { ok } = await passwords
    .check(passwordHash, currentPassword, caller)
    .catch((error: unknown) => {
      // Nothing was tried: the queue of checks is full.
      right();
      throw error;
    });
  if (!ok) throw invalidArgument('currentPassword', 'is not the present password');
  right();
}

/** Of the organization's members, as far as somebody with the place sees them. */
function memberIds(
  directory: Pick<OrganizationDirectory, 'get'>,
  id: string,
  place: Place | undefined,
): string[] {
  const members = directory.get(id)?.members ?? [];
  return members
    .filter((member) => sees(place, placeOfMember(member)))
    .map(({ customerId }) => customerId);
}

function sees(own: Place | undefined, other: Place): boolean {
  return own !== undefined && own.lacksSecondFactor !== true && shareProject(own, other);
}

export function sessionOver(): ConnectError {
  return new ConnectError('the session is over: sign in', Code.Unauthenticated);
}

export function noSuchCustomer(): ConnectError {
  return new ConnectError('there is no such customer', Code.NotFound);
}
