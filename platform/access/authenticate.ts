// Who may call what: one row per served method, and the one function that holds a request's credentials against it.
// It looks at nothing but names and headers, so that access is decided before a body is read. What customers' tokens
// say is customer-access.ts's; a role in an organization that the body names is organization-access.ts's.

import { parseApiKey } from './ids.ts';
import type { Role } from './organizations.ts';
import type { KeyLookup, KeyOwner } from './projects.ts';

/** `jwt` = a customer's token; `none` = the method is open to everybody. */
export type CredentialClass = 'none' | 'public-key' | 'private-key' | 'jwt';

export interface AccessRow {
  credentials: readonly CredentialClass[];
  /** In what a customer needs `role`: the project of x-project-id, or the organization that the request names. */
  scope: 'nothing' | 'organization' | 'project';
  role: Role;
}

const open: AccessRow = { credentials: ['none'], scope: 'nothing', role: 'viewer' };
const keys = ['public-key', 'private-key', 'jwt'] as const;
/** Writing from browsers and mobile apps. */
const sdk: AccessRow = { credentials: keys, scope: 'project', role: 'member' };
/** Reading, from servers and by customers. */
const shared: AccessRow = { credentials: keys.slice(1), scope: 'project', role: 'viewer' };
/** Managing, by the same callers. */
const sharedWrite: AccessRow = { ...shared, role: 'member' };
const jwt = ['jwt'] as const;
/** Any customer, for what concerns nobody but themselves. */
const customer: AccessRow = { credentials: jwt, scope: 'nothing', role: 'viewer' };
const inOrganization = (role: Role): AccessRow => {
  return { credentials: jwt, scope: 'organization', role };
};
const inProject = (role: Role): AccessRow => ({ credentials: jwt, scope: 'project', role });

/** Service and method, without a leading slash -> who may call it. A method without a row is closed. */
export const access: ReadonlyMap<string, AccessRow> = new Map([
  ['public.auth.v1.AuthService/SignUp', open],
  ['public.auth.v1.AuthService/SignIn', open],
  ['public.auth.v1.AuthService/SignInWithMagicLink', open],
  ['public.auth.v1.AuthService/StartOAuth', open],
  ['public.auth.v1.AuthService/SignInWithOAuth', open],
  ['public.auth.v1.AuthService/RefreshToken', open],
  ['public.auth.v1.AuthService/SignOut', open],
  ['dashboard.orgs.v1.OrgsService/Create', customer],
  ['dashboard.orgs.v1.OrgsService/Get', inOrganization('viewer')],
  ['dashboard.orgs.v1.OrgsService/List', customer],
  ['dashboard.orgs.v1.OrgsService/Update', inOrganization('admin')],
  ['dashboard.orgs.v1.OrgsService/InviteMember', inOrganization('admin')],
  ['dashboard.orgs.v1.OrgsService/ListMembers', inOrganization('viewer')],
  ['dashboard.orgs.v1.OrgsService/RemoveMember', inOrganization('admin')],
  ['dashboard.orgs.v1.OrgsService/UpdateMemberRole', inOrganization('admin')],
  ['dashboard.orgs.v1.OrgsService/ListInvitations', inOrganization('viewer')],
  ['dashboard.orgs.v1.OrgsService/ResendInvite', inOrganization('admin')],
  ['dashboard.orgs.v1.OrgsService/RevokeInvite', inOrganization('admin')],
  ['dashboard.orgs.v1.OrgsService/AcceptInvite', customer],
  ['dashboard.orgs.v1.OrgsService/Leave', inOrganization('viewer')],
  ['dashboard.orgs.v1.OrgsService/CreateOrgKey', inOrganization('admin')],
  ['dashboard.orgs.v1.OrgsService/ListOrgKeys', inOrganization('viewer')],
  ['dashboard.orgs.v1.OrgsService/RevokeOrgKey', inOrganization('admin')],
  ['dashboard.projects.v1.ProjectsService/Create', inOrganization('admin')],
  ['dashboard.projects.v1.ProjectsService/Get', inProject('viewer')],
  ['dashboard.projects.v1.ProjectsService/List', customer],
  ['dashboard.projects.v1.ProjectsService/Update', inProject('admin')],
  ['dashboard.projects.v1.ProjectsService/CreateApiKey', inProject('admin')],
  ['dashboard.projects.v1.ProjectsService/ListApiKeys', inProject('viewer')],
  ['dashboard.projects.v1.ProjectsService/RevokeApiKey', inProject('admin')],
  ['dashboard.customers.v1.CustomersService/List', customer],
  ['dashboard.customers.v1.CustomersService/Get', customer],
  ['dashboard.customers.v1.CustomersService/Update', customer],
  ['dashboard.orgemailproviders.v1.OrgEmailProvidersService/Get', inOrganization('viewer')],
  ['dashboard.orgemailproviders.v1.OrgEmailProvidersService/Upsert', inOrganization('admin')],
  ['dashboard.orgemailproviders.v1.OrgEmailProvidersService/Delete', inOrganization('admin')],
  ['dashboard.orgemailproviders.v1.OrgEmailProvidersService/SendTest', inOrganization('admin')],
  ['sdk.events.v1.EventsService/BatchCreate', sdk],
  ['events.v1.EventsService/BatchCreate', sdk],
  ['sdk.profiles.v1.ProfilesSDKService/Identify', sdk],
  ['sdk.profiles.v1.ProfilesSDKService/Alias', sdk],
  ['shared.profiles.v1.ProfilesService/Get', shared],
  ['shared.profiles.v1.ProfilesService/GetByExternalId', shared],
  ['shared.profiles.v1.ProfilesService/List', shared],
  ['shared.profiles.v1.ProfilesService/Delete', sharedWrite],
  ['shared.activity.v1.ActivityService/List', shared],
]);

/** Services that answer under a second name: the key is the alias. */
export const serviceAliases: ReadonlyMap<string, string> = new Map([
  ['profiles.v1.ProfilesSDKService', 'sdk.profiles.v1.ProfilesSDKService'],
  ['profiles.v1.ProfilesService', 'shared.profiles.v1.ProfilesService'],
]);

/** As they came with the request; an empty text counts as absent. */
export interface Credentials {
  /** Header x-api-key. */
  apiKey?: string | undefined;
  /** Header authorization. */
  authorization?: string | undefined;
  /** Header x-project-id. */
  projectIdHeader?: string | undefined;
  /** Query parameter api_key, for beacons that cannot set headers: public keys on SDK methods only. */
  apiKeyParam?: string | undefined;
}

/** Who calls, in a project: a key of it, or a customer, who then counts as a private key. */
export type Principal = KeyOwner & { customer?: Customer & { role: Role } };

/** Who calls, as themselves. */
export interface Customer {
  customerId: string;
  sessionId: string;
}

export type Refusal = {
  kind: 'refused';
  /** `unavailable`: the credential cannot be checked now, the same request may succeed later. */
  code: 'unauthenticated' | 'permission_denied' | 'not_found' | 'invalid_argument' | 'unavailable';
  /** For the caller; never repeats the credential. */
  message: string;
};

export type Authentication =
  | { kind: 'ok'; principal: Principal }
  /** Of a method that concerns no project. */
  | { kind: 'customer'; customer: Customer }
  /** Of a method that is open to everybody. */
  | { kind: 'open' }
  | Refusal;

/** `method` as in `access`, by either name of its service. A promise only where the broker has to be asked. */
export type Authenticate = (
  method: string,
  credentials: Credentials,
) => Authentication | Promise<Authentication>;

/** What authentication needs of the directory of projects. */
export interface KeyDirectory {
  findKey(rawKey: string): KeyLookup;
  confirmKey(rawKey: string): Promise<KeyLookup>;
}

/** What authentication needs to know of customers. */
export interface CustomerAccess {
  /** Whether a customer's token opens a method; a promise only for a token that is new here. */
  judgeToken(
    token: string,
    row: AccessRow,
    projectIdHeader: string | undefined,
  ): Authentication | Promise<Authentication>;
  /** Whether an organization has this raw key; `unconfirmed` where memory is too old to say. */
  isOrgKey(rawKey: string): boolean | 'unconfirmed';
}

const noRow = refused('permission_denied', 'this method is not open to any credential');
const noKey = refused('unauthenticated', 'no credential: send an API key in x-api-key');
const noToken = refused('unauthenticated', 'no credential: send a token in authorization');
const invalidKey = refused('unauthenticated', 'the API key is not valid');
const invalidAuthorization = refused('unauthenticated', 'the authorization header is not valid');
const privateKeyInUrl = refused('unauthenticated', 'a private key must not be sent in the URL');
const publicKeyHere = refused('permission_denied', 'a public key cannot call this method');
const anyKeyHere = refused('permission_denied', 'an API key cannot call this method');
const orgKeyHere = refused('permission_denied', 'an organization key cannot call this method');
export const otherProject = refused('not_found', 'there is no such project');
export const notNow = refused('unavailable', 'the credential cannot be checked now');

/** Without `customers`, no token is valid. */
export function createAuthenticate(
  directory: KeyDirectory,
  customers?: CustomerAccess,
): Authenticate {
  return (method, credentials) => {
    const row = access.get(method) ?? access.get(canonicalMethod(method));
    if (row === undefined) return noRow;
    if (row.credentials.includes('none')) return { kind: 'open' };
    const presented = presentedKey(credentials, row);
    if (typeof presented !== 'string') return presented;
    if (presented.startsWith('org_')) return judgeOrgKey(customers?.isOrgKey(presented));
    if (customers !== undefined && isToken(presented)) {
      return customers.judgeToken(presented, row, credentials.projectIdHeader);
    }
    const found = directory.findKey(presented);
    if (found.kind !== 'unconfirmed') return judge(found, row, credentials);
    return directory.confirmKey(presented).then((answer) => judge(answer, row, credentials));
  };
}

/** Three parts: no API key has a point in it. */
function isToken(presented: string): boolean {
  return presented.includes('.') && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(presented);
}

/** `package.Service/Method`, an alias of the service replaced by its name. */
export function canonicalMethod(method: string): string {
  const slash = method.indexOf('/');
  const name = serviceAliases.get(method.slice(0, slash));
  return name === undefined ? method : name + method.slice(slash);
}

/** What speaks for the request: x-api-key, else the bearer token, else the query parameter. */
function presentedKey(
  { apiKey, authorization, apiKeyParam }: Credentials,
  row: AccessRow,
): string | Refusal {
  const keysOpen = row.credentials.includes('private-key');
  if (apiKey && (keysOpen || !authorization)) return apiKey;
  if (authorization) {
    const [, token] = /^bearer +(\S+) *$/i.exec(authorization) ?? [];
    return token ?? invalidAuthorization;
  }
  if (!keysOpen) return noToken;
  if (!apiKeyParam || !row.credentials.includes('public-key')) return noKey;
  return parseApiKey(apiKeyParam) === 'private' ? privateKeyInUrl : apiKeyParam;
}

function judge(found: KeyLookup, row: AccessRow, { projectIdHeader }: Credentials): Authentication {
  switch (found.kind) {
    case 'unknown':
      return invalidKey;
    case 'unconfirmed':
      return notNow;
    case 'found': {
      const { owner } = found;
      if (!row.credentials.includes('private-key')) return anyKeyHere;
      if (owner.credential === 'public' && !row.credentials.includes('public-key')) {
        return publicKeyHere;
      }
      if (projectIdHeader && projectIdHeader !== owner.projectId) return otherProject;
      return { kind: 'ok', principal: owner };
    }
    default:
      return found satisfies never;
  }
}

function judgeOrgKey(isKey: boolean | 'unconfirmed' | undefined): Refusal {
  if (isKey === 'unconfirmed') return notNow;
  return isKey === true ? orgKeyHere : invalidKey;
}

export function refused(code: Refusal['code'], message: string): Refusal {
  return { kind: 'refused', code, message };
}
