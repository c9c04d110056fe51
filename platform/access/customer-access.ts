// Checks a customer's token against a method's row: the token says who calls, memory says whether they still may, in
// which role and in which projects. Fails closed: while memory may be out of date, nobody gets in by a role that may be
// gone.

import type { AccessRow } from './access-table.ts';
import {
  type Authentication,
  type CustomerAccess,
  notNow,
  otherProject,
  refused,
} from './authenticate.ts';
import { mayUse, type OrganizationDirectory, type Place, roleCovers } from './organizations.ts';
import type { ProjectRecord } from './projects.ts';

/** The claims of a token that this instance signed and that has not expired. */
interface TokenClaims {
  customerId: string;
  sessionId: string;
  /** When the session began. */
  sessionStartMs: number;
}

/** A customer's record, as far as access asks. */
interface Person {
  /** Sessions that began before this are over. */
  sessionsFromMs: number;
  /** Sessions that ended lately; a few. */
  endedSessions?: readonly { id: string }[];
  superAdmin: boolean;
  /** Absent where they have none. */
  secondFactor?: object;
}

interface CustomerAccessDeps {
  tokens: {
    /** The claims of a token that this process verified before: a map look-up. */
    known(token: string): TokenClaims | undefined;
    verify(token: string): Promise<TokenClaims | undefined>;
  };
  people: {
    get(customerId: string): Person | undefined;
    unconfirmedMs(): number;
  };
  organizations: Pick<OrganizationDirectory, 'get' | 'placeOf' | 'findKey' | 'unconfirmedMs'>;
  projects: { project(projectId: string): ProjectRecord | undefined };
  /** Once the broker has not confirmed memory for this long, nobody gets in (10 s). */
  staleAfterMs?: number;
}

const invalidToken = refused('unauthenticated', 'the token is not valid, or not any more');
const noProject = refused('invalid_argument', 'x-project-id: is required with a token');
const operatorsOnly = refused('permission_denied', 'only operators of the instance may call this');
/** Nothing of the organization opens before, whatever the role. */
export const secondFactorFirst = refused(
  'permission_denied',
  'the organization asks for a second factor: set one up in your account first',
);
const lowRole = refused('permission_denied', 'your role does not allow this');

export function createCustomerAccess(deps: CustomerAccessDeps): CustomerAccess {
  const { tokens, organizations } = deps;
  return {
    checkToken(token, row, projectIdHeader) {
      const known = tokens.known(token);
      if (known !== undefined) return checkClaims(deps, known, row, projectIdHeader);
      return tokens.verify(token).then((claims) => {
        if (claims === undefined) return invalidToken;
        return checkClaims(deps, claims, row, projectIdHeader);
      });
    },
    isOrgKey(rawKey) {
      if (organizations.unconfirmedMs() > (deps.staleAfterMs ?? 10_000)) return 'unconfirmed';
      return organizations.findKey(rawKey) !== undefined;
    },
  };
}

/**
 * A customer's place in an organization: a member's own, or an admin's for an operator of the instance. Undefined for
 * others, and for everybody where there is no such organization. Says where the organization asks for a second factor
 * that they do not have.
 */
export type PlaceOf = (organizationId: string, customerId: string) => Place | undefined;

export function createPlaceOf(deps: Pick<CustomerAccessDeps, 'people' | 'organizations'>): PlaceOf {
  return (organizationId, customerId) => {
    const organization = deps.organizations.get(organizationId);
    if (organization === undefined) return undefined;
    const person = deps.people.get(customerId);
    const place: Place | undefined =
      person?.superAdmin === true
        ? { role: 'admin' }
        : deps.organizations.placeOf(organizationId, customerId);
    const isAsked = organization.requiresSecondFactor === true;
    if (place === undefined || !isAsked || person?.secondFactor !== undefined) return place;
    return { ...place, lacksSecondFactor: true };
  };
}

/** Whether a token's session has ended, although the token has not expired. */
export function isOver(
  { sessionId, sessionStartMs }: Pick<TokenClaims, 'sessionId' | 'sessionStartMs'>,
  { sessionsFromMs, endedSessions }: Pick<Person, 'sessionsFromMs' | 'endedSessions'>,
): boolean {
  return (
    sessionStartMs < sessionsFromMs || endedSessions?.some(({ id }) => id === sessionId) === true
  );
}

function checkClaims(
  deps: CustomerAccessDeps,
  claims: TokenClaims,
  row: AccessRow,
  projectIdHeader: string | undefined,
): Authentication {
  const { people, organizations, projects, staleAfterMs = 10_000 } = deps;
  const { customerId, sessionId } = claims;
  const unconfirmedMs = Math.max(people.unconfirmedMs(), organizations.unconfirmedMs());
  if (unconfirmedMs > staleAfterMs) return notNow;
  const person = people.get(customerId);
  if (person === undefined || isOver(claims, person)) return invalidToken;
  const customer = { customerId, sessionId };
  if (row.scope === 'instance' && !person.superAdmin) return operatorsOnly;
  if (row.scope !== 'project') return { kind: 'customer', customer };
  if (!projectIdHeader) return noProject;
  const project = projects.project(projectIdHeader);
  if (project === undefined) return otherProject;
  const { id: projectId, organizationId } = project;
  const place = createPlaceOf(deps)(organizationId, customerId);
  if (place === undefined || !mayUse(place, projectId)) return otherProject;
  if (place.lacksSecondFactor === true) return secondFactorFirst;
  if (!roleCovers(place.role, row.role)) return lowRole;
  return {
    kind: 'ok',
    principal: {
      projectId,
      organizationId,
      credential: 'private',
      keyId: customerId,
      customer: { ...customer, ...place },
    },
  };
}
