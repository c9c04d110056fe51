// Access to the organization that a request names in its body: checked when the body is read and before any of its
// other fields is looked at. An organization that is not the caller's might as well not exist.

import {
  Code,
  ConnectError,
  createContextKey,
  type HandlerContext,
  type Interceptor,
} from '@connectrpc/connect';
import { customerOf, principalOf } from './auth-interceptor.ts';
import { access } from './authenticate.ts';
import { type Role, roleCovers } from './organizations.ts';

/** A customer in an organization of theirs. */
export interface Membership {
  customerId: string;
  organizationId: string;
  role: Role;
}

const membershipKey = createContextKey<Membership | undefined>(undefined, {
  description: 'membership',
});

/** The caller's place in the request's organization, or its project's. Throws `internal` where none is checked. */
export function membershipOf(context: Pick<HandlerContext, 'values'>): Membership {
  const membership = context.values.get(membershipKey);
  if (membership !== undefined) return membership;
  const { organizationId, customer } = principalOf(context);
  if (customer !== undefined) {
    return { customerId: customer.customerId, organizationId, role: customer.role };
  }
  throw new ConnectError('the request was not authenticated', Code.Internal);
}

/** Goes after the interceptor of auth-interceptor.ts. */
export function createOrganizationInterceptor(
  roleOf: (organizationId: string, customerId: string) => Role | undefined,
): Interceptor {
  return (next) => async (request) => {
    const row = access.get(`${request.service.typeName}/${request.method.name}`);
    if (row?.scope !== 'organization' || request.stream) return next(request);
    const { customerId } = customerOf({ values: request.contextValues });
    const organizationId = organizationIdOf(request.message);
    const role = roleOf(organizationId, customerId);
    if (role === undefined) throw new ConnectError('there is no such organization', Code.NotFound);
    if (!roleCovers(role, row.role)) {
      throw new ConnectError('your role does not allow this', Code.PermissionDenied);
    }
    request.contextValues.set(membershipKey, { customerId, organizationId, role });
    return next(request);
  };
}

/** Requests in which `id` is another name of `org_id`. */
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
