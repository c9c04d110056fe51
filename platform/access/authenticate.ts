// Holds a request's credentials against the row of its method in access-table.ts. It looks at nothing but names and
// headers, so that access is decided before a body is read. Tokens of customers are checked by customer-access.ts, a
// role in an organization that the body names by organization-interceptor.ts.

import { type AccessRow, accessRowOf } from './access-table.ts';
import { parseApiKey } from './ids.ts';
import type { Place } from './organizations.ts';
import type { KeyLookup, KeyOwner } from './projects.ts';

/** The credentials that a request carries; an empty text counts as absent. */
export interface Credentials {
  /** Header x-api-key. */
  apiKey?: string | undefined;
  /** Header authorization. */
  authorization?: string | undefined;
  /** Header x-project-id. */
  projectIdHeader?: string | undefined;
  /** Query parameter api_key, for beacons, which cannot set headers: public keys on SDK methods only. */
  apiKeyParam?: string | undefined;
}

/** The project that a call may use, and its key. A customer's call counts as one with a private key. */
export type Principal = KeyOwner & { customer?: CustomerSession & Place };

/** A customer and the session that their token belongs to. */
export interface CustomerSession {
  customerId: string;
  sessionId: string;
}

export type AccessRefusal = {
  kind: 'refused';
  /** `unavailable`: the credential cannot be checked now; the same request may succeed later. */
  code: 'unauthenticated' | 'permission_denied' | 'not_found' | 'invalid_argument' | 'unavailable';
  /** The caller sees it: it never repeats the credential. */
  message: string;
};

export type Authentication =
  | { kind: 'ok'; principal: Principal }
  /** The method concerns no project. */
  | { kind: 'customer'; customer: CustomerSession }
  /** The method is open to everybody. */
  | { kind: 'open' }
  | AccessRefusal;

/** `method` is `package.Service/Method`, by either name of the service. A promise only where the broker is asked. */
export type Authenticate = (
  method: string,
  credentials: Credentials,
) => Authentication | Promise<Authentication>;

/** The look-ups of keys that authentication needs; ProjectDirectory has them. */
interface KeyDirectory {
  findKey(rawKey: string): KeyLookup;
  confirmKey(rawKey: string): Promise<KeyLookup>;
}

/** The checks of customers' tokens and of organizations' keys that authentication needs. */
export interface CustomerAccess {
  /** Checks a customer's token against a row; a promise only for a token that this process sees for the first time. */
  checkToken(
    token: string,
    row: AccessRow,
    projectIdHeader: string | undefined,
  ): Authentication | Promise<Authentication>;
  /** Whether an organization has this raw key; `unconfirmed` where memory is too old to say. */
  isOrgKey(rawKey: string): boolean | 'unconfirmed';
}

const noRow = refused('permission_denied', 'this method is not open to any credential');
const noKey = refused(
  'unauthenticated',
  'no credential: send an API key as x-api-key: <key> or Authorization: Bearer <key>',
);
const noPrivateKey = refused(
  'unauthenticated',
  'no credential: a private key is needed, as x-api-key: <key> or Authorization: Bearer <key>',
);
const noToken = refused(
  'unauthenticated',
  'no credential: send a token as Authorization: Bearer <token>',
);
const invalidKey = refused('unauthenticated', 'the API key is not valid');
const invalidAuthorization = refused(
  'unauthenticated',
  'the authorization header is not valid: send Authorization: Bearer <key or token>',
);
const privateKeyInUrl = refused('unauthenticated', 'a private key must not be sent in the URL');
const publicKeyHere = refused(
  'permission_denied',
  'a public key cannot call this method: a private key is needed',
);
const anyKeyHere = refused(
  'permission_denied',
  'an API key cannot call this method: a token is needed, as Authorization: Bearer <token>',
);
const otherScope = {
  write: refused('permission_denied', 'this key only reads: a key of the scope write is needed'),
  read: refused('permission_denied', 'this key only writes: a key of the scope read is needed'),
  all: refused('permission_denied', 'a private key of the scope all is needed'),
};
const orgKeyHere = refused('permission_denied', 'an organization key cannot call this method');
export const otherProject = refused('not_found', 'there is no such project');
export const notNow = refused('unavailable', 'the credential cannot be checked now');

/** The check of every request's credentials. Without `customers`, no token is valid. */
export function createAuthenticate(
  directory: KeyDirectory,
  customers?: CustomerAccess,
): Authenticate {
  return (method, credentials) => {
    const row = accessRowOf(method);
    if (row === undefined) return noRow;
    if (row.credentials.includes('none')) return { kind: 'open' };
    const presented = presentedKey(credentials, row);
    if (typeof presented !== 'string') return presented;
    if (presented.startsWith('org_')) return refuseOrgKey(customers?.isOrgKey(presented));
    if (customers !== undefined && isToken(presented)) {
      return customers.checkToken(presented, row, credentials.projectIdHeader);
    }
    const found = directory.findKey(presented);
    if (found.kind !== 'unconfirmed') return checkKey(found, row, credentials);
    return directory.confirmKey(presented).then((answer) => checkKey(answer, row, credentials));
  };
}

/** Tells a token from an API key: a token has three parts, and no key has a point. */
function isToken(presented: string): boolean {
  return presented.includes('.') && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(presented);
}

/** The credential that counts: x-api-key, else the bearer token, else the query parameter. */
function presentedKey(
  { apiKey, authorization, apiKeyParam }: Credentials,
  row: AccessRow,
): string | AccessRefusal {
  const keysOpen = row.credentials.includes('private-key');
  if (apiKey && (keysOpen || !authorization)) return apiKey;
  if (authorization) {
    const [, token] = /^bearer +(\S+) *$/i.exec(authorization) ?? [];
    return token ?? invalidAuthorization;
  }
  if (!keysOpen) return noToken;
  if (!row.credentials.includes('public-key')) return noPrivateKey;
  if (!apiKeyParam) return noKey;
  return parseApiKey(apiKeyParam) === 'private' ? privateKeyInUrl : apiKeyParam;
}

function checkKey(
  found: KeyLookup,
  row: AccessRow,
  { projectIdHeader }: Credentials,
): Authentication {
  switch (found.kind) {
    case 'unknown':
      return invalidKey;
    case 'expired': {
      const since = new Date(found.expireMs).toISOString();
      return refused('unauthenticated', `the API key expired at ${since}: make another one`);
    }
    case 'unconfirmed':
      return notNow;
    case 'found': {
      const { owner } = found;
      if (!row.credentials.includes('private-key')) return anyKeyHere;
      if (owner.credential === 'public' && !row.credentials.includes('public-key')) {
        return publicKeyHere;
      }
      if (projectIdHeader && projectIdHeader !== owner.projectId) return otherProject;
      if (owner.scope !== undefined && owner.scope !== row.keyScope)
        return otherScope[row.keyScope];
      return { kind: 'ok', principal: owner };
    }
    default:
      return found satisfies never;
  }
}

function refuseOrgKey(isKey: boolean | 'unconfirmed' | undefined): AccessRefusal {
  if (isKey === 'unconfirmed') return notNow;
  return isKey === true ? orgKeyHere : invalidKey;
}

export function refused(code: AccessRefusal['code'], message: string): AccessRefusal {
  return { kind: 'refused', code, message };
}
