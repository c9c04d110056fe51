// CustomersService: the people of one's organizations, and oneself.

import { Code, ConnectError } from '@connectrpc/connect';
import type { RoleOf } from '../../platform/access/customer-access.ts';
import type { OrganizationDirectory } from '../../platform/access/organizations.ts';
import type { Clock } from '../../platform/clock.ts';
import type {
  Customer,
  GetRequest,
  ListRequest,
  UpdateRequest,
} from '../../proto/gen/dashboard/customers/v1/customers_pb.js';
import type { Attempts } from '../auth/attempts.ts';
import type { Passwords } from '../auth/passwords.ts';
import type { Caller } from '../caller.ts';
import { displayNameField, invalidArgument, newPasswordField } from '../fields.ts';
import { noSuchOrganization } from '../orgs/org-record.ts';
import type { Accounts } from './accounts.ts';
import { customerMessage } from './customer.ts';

export interface CustomerDeps {
  accounts: Pick<Accounts, 'get' | 'change'>;
  directory: Pick<OrganizationDirectory, 'get' | 'organizationsOf' | 'roleOf'>;
  roleOf: RoleOf;
  passwords: Passwords;
  attempts: Pick<Attempts, 'signIn'>;
  clock: Clock;
}

const defaultPageSize = 100;
const maxPageSize = 1_000;

export function listCustomers(
  { accounts, directory, roleOf }: Pick<CustomerDeps, 'accounts' | 'directory' | 'roleOf'>,
  request: ListRequest,
  caller: Caller,
): { customers: Customer[]; nextPageToken: string } {
  const { orgId, pageSize, pageToken } = request;
  if (pageSize < 0 || pageSize > maxPageSize) {
    throw invalidArgument('pageSize', `must be at most ${maxPageSize}`);
  }
  if (orgId !== '' && roleOf(orgId, caller.customerId) === undefined) {
    throw noSuchOrganization();
  }
  const after = Buffer.from(pageToken, 'base64url').toString('utf8');
  if (pageToken !== '' && !/^[0-9a-f-]{36}$/.test(after)) {
    throw invalidArgument('pageToken', 'must be a nextPageToken of this method');
  }
  const size = pageSize === 0 ? defaultPageSize : pageSize;
  const organizations = orgId === '' ? directory.organizationsOf(caller.customerId) : [orgId];
  const ids = new Set(organizations.flatMap((id) => memberIds(directory, id)));
  if (orgId === '') ids.add(caller.customerId);
  const rest = [...ids].sort().filter((id) => id > after);
  const page = rest.slice(0, size);
  const last = rest.length > size ? page.at(-1) : undefined;
  return {
    customers: page.flatMap((id) => {
      const record = accounts.get(id);
      return record === undefined ? [] : [customerMessage(record)];
    }),
    nextPageToken: last === undefined ? '' : Buffer.from(last).toString('base64url'),
  };
}

export function getCustomer(
  { accounts, directory }: Pick<CustomerDeps, 'accounts' | 'directory'>,
  request: GetRequest,
  caller: Caller,
): { customer: Customer } {
  const id = request.id === '' ? caller.customerId : request.id;
  const together =
    id === caller.customerId ||
    directory
      .organizationsOf(caller.customerId)
      .some((organizationId) => directory.roleOf(organizationId, id) !== undefined);
  const record = together ? accounts.get(id) : undefined;
  if (record === undefined) throw noSuchCustomer();
  return { customer: customerMessage(record) };
}

export async function updateCustomer(
  deps: CustomerDeps,
  request: UpdateRequest,
  caller: Caller,
): Promise<{ customer: Customer }> {
  const { accounts, clock } = deps;
  if (request.id !== '' && request.id !== caller.customerId) throw noSuchCustomer();
  const displayName =
    request.displayName === undefined
      ? undefined
      : displayNameField('displayName', request.displayName);
  const passwordHash = await newPasswordHash(deps, request, caller);
  const record = await accounts.change(caller.customerId, (before) => {
    if (displayName === undefined && passwordHash === undefined) return before;
    return {
      ...before,
      ...(displayName !== undefined && { displayName }),
      ...(passwordHash !== undefined && { passwordHash, sessionsFromMs: clock.nowMs() }),
    };
  });
  if (record === undefined) throw noSuchCustomer();
  return { customer: customerMessage(record) };
}

/** Undefined where the password stays. */
async function newPasswordHash(
  { accounts, passwords, attempts }: CustomerDeps,
  request: UpdateRequest,
  caller: Caller,
): Promise<string | undefined> {
  if (request.password === undefined) return undefined;
  const password = newPasswordField('password', request.password);
  const record = accounts.get(caller.customerId);
  if (record === undefined) throw noSuchCustomer();
  if (record.passwordHash !== undefined) {
    attempts.signIn(undefined, record.email);
    const { ok } = await passwords.check(record.passwordHash, request.currentPassword ?? '');
    if (!ok) throw invalidArgument('currentPassword', 'is not the present password');
  }
  return passwords.hash(password);
}

function memberIds(directory: Pick<OrganizationDirectory, 'get'>, id: string): string[] {
  return directory.get(id)?.members.map(({ customerId }) => customerId) ?? [];
}

function noSuchCustomer(): ConnectError {
  return new ConnectError('there is no such customer', Code.NotFound);
}
