// OrgsService.Delete. The request is written first, then its projects are closed, and then the record of the
// organization with members, invitations, keys and mail server is taken away. All else is erasure/'s.

import { askForDeletion } from '../../platform/erasure/ask-for-deletion.ts';
import type { DeleteRequest } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { noSuchOrganization } from '../orgs/org-record.ts';
import { invalidArgument, requiredField } from '../request-fields.ts';
import type { SignedInMember } from '../signed-in-customer.ts';
import { closeProject } from './delete-project.ts';
import type { DeletionDeps } from './deletion-deps.ts';

/** Throws invalid_argument for another name than its own. */
export async function deleteOrganization(
  deps: DeletionDeps,
  request: DeleteRequest,
  { organizationId }: SignedInMember,
): Promise<{ projects: number }> {
  const organization = deps.directory.get(organizationId);
  if (organization === undefined) throw noSuchOrganization();
  if (requiredField('displayName', request.displayName) !== organization.displayName) {
    throw invalidArgument('displayName', 'is not the name of the organization');
  }
  return { projects: await closeOrganization(deps, organizationId) };
}

/** From then on nobody is in it; returns how many projects are closed. May be called again. */
export async function closeOrganization(
  deps: DeletionDeps,
  organizationId: string,
): Promise<number> {
  const { deletions, organizations, byOrganization, clock } = deps;
  const whole = { kind: 'organization', organizationId: '', displayName: '' } as const;
  await askForDeletion(deletions, { ...whole, id: organizationId }, clock);
  const projectIds = [...byOrganization.idsOf(organizationId)];
  // Nobody is left who could ask for them by name.
  for (const id of projectIds) await closeProject(deps, { id, organizationId, displayName: '' });
  await organizations.remove(organizationId);
  return projectIds.length;
}
