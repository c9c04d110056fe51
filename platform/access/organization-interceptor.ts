// Checks the customer's role in the organization that a request's body names: once the body is read, and before any
// other field is looked at. An organization without the customer is answered like one that does not exist.

import {
  Code,
  ConnectError,
  createContextKey,
  type HandlerContext,
  type Interceptor,
} from '@connectrpc/connect';
import { accessTable } from './access-table.ts';
import { customerOf, principalOf, refusalError } from './auth-interceptor.ts';
import { type PlaceOf, secondFactorFirst } from './customer-access.ts';
import { type Place, roleCovers } from './organizations.ts';

/** A customer's place in an organization. */
interface Membership extends Place {
  customerId: string;
  organizationId: string;
}

const membershipKey = createContextKey<Membership | undefined>(undefined, {
  description: 'membership',
});

/** The customer's place in the organization of the request or of its project. Throws `internal` where none is known. */
export function membershipOf(context: Pick<HandlerContext, 'values'>): Membership {
  const membership = context.values.get(membershipKey);
  if (membership !== undefined) return membership;
  const { organizationId, customer } = principalOf(context);
  if (customer !== undefined) {
    const { sessionId: _unasked, ...member } = customer;
    return { ...member, organizationId };
  }
  throw new ConnectError('the request was not authenticated', Code.Internal);
}

/** Must run after the interceptor of auth-interceptor.ts, which finds the customer. */
export function createOrganizationInterceptor(placeOf: PlaceOf): Interceptor {
  return (next) => async (request) => {
    const row = accessTable.get(`${request.service.typeName}/${request.method.name}`);
    if (row?.scope !== 'organization' || request.stream) return next(request);
    const { customerId } = customerOf({ values: request.contextValues });
    const organizationId = organizationIdOf(request.message);
    const place = placeIn(placeOf, organizationId, customerId);
    if (!roleCovers(place.role, row.role)) {
      throw new ConnectError('your role does not allow this', Code.PermissionDenied);
    }
    request.contextValues.set(membershipKey, { customerId, organizationId, ...place });
    return next(request);
  };
}

/** Throws not_found where the customer has no place, and permission_denied where a second factor is asked for first. */
export function placeIn(placeOf: PlaceOf, organizationId: string, customerId: string): Place {
  const place = placeOf(organizationId, customerId);
  if (place === undefined) throw new ConnectError('there is no such organization', Code.NotFound);
  if (place.lacksSecondFactor === true) throw refusalError(secondFactorFirst);
  return place;
}

/** Requests whose field `id` is a second name of `org_id`. */
const namedById = new Set(['dashboard.orgs.v1.GetRequest', 'dashboard.orgs.v1.UpdateRequest']);

function organizationIdOf(message: { $typeName: string }): string {
  const orgId: unknown = Reflect.get(message, 'orgId');
  const id: unknown = namedById.has(message.$typeName) ? Reflect.get(message, 'id') : '';
  if (typeof orgId !== 'string' || typeof id !== 'string') {
    throw new Error(`${message.$typeName} names no organization`);
  }
  if (orgId === '' && id === '') {
    throw new ConnectError('orgId: is required', Code.InvalidArgument);
  }
  if (orgId !== '' && id !== '' && orgId !== id) {
    throw new ConnectError('id: must equal orgId', Code.InvalidArgument);
  }
  return orgId === '' ? id : orgId;
}
