// Who calls a method of the dashboard, as the access check has found it before the method runs.

import type { Role } from '../platform/access/organizations.ts';

/** A customer who is signed in. */
export interface SignedInCustomer {
  customerId: string;
}

/** A customer in an organization of theirs. */
export interface SignedInMember extends SignedInCustomer {
  organizationId: string;
  role: Role;
}

/** Somebody in a project of theirs. */
export interface SignedInProjectMember {
  projectId: string;
}
