// The signed-in person behind a call of the dashboard. The access check fills these in before a method runs: a method
// neither looks at credentials nor checks a role.

import type { Place } from '../platform/access/organizations.ts';

export interface SignedInCustomer {
  customerId: string;
}

/** A customer and the session that their call belongs to. */
export interface SignedInSession extends SignedInCustomer {
  sessionId: string;
}

/** A customer in one of their organizations. */
export interface SignedInMember extends SignedInCustomer, Place {
  organizationId: string;
}

/** A customer in one of their projects; no method of a project asks which customer. */
export interface SignedInProjectMember {
  projectId: string;
}
