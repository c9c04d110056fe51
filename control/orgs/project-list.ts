// The projects that a member or an invitation is limited to: how a request names them, and how many an organization's
// record may hold.

import { Code, ConnectError } from '@connectrpc/connect';
import type { OrganizationRecord, Role } from '../../platform/access/organizations.ts';
import type { ProjectList } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';
import { invalidArgument } from '../request-fields.ts';

/** Some 40 bytes each: the record stays far below the bucket's largest value. */
const maxProjectsNamed = 5_000;

/** Undefined: all projects. Throws invalid_argument for a list that is empty, an admin's, or has a foreign project. */
export function projectListField(
  { byOrganization }: { byOrganization: ProjectsByOrganization },
  list: ProjectList | undefined,
  { organizationId, role }: { organizationId: string; role: Role },
): readonly string[] | undefined {
  if (list === undefined) return undefined;
  if (role === 'admin') {
    throw invalidArgument('projects', 'must be absent for an admin, who has all projects');
  }
  if (list.projectIds.length === 0) {
    throw invalidArgument('projects.projectIds', 'must name a project, or projects be absent');
  }
  const own = new Set(byOrganization.idsOf(organizationId));
  for (const [index, projectId] of list.projectIds.entries()) {
    if (own.has(projectId)) continue;
    throw invalidArgument(
      `projects.projectIds[${index}]`,
      'must be the id of a project of the organization',
    );
  }
  return [...new Set(list.projectIds)];
}

/** Throws failed_precondition where members and invitations name too many projects together. */
export function refuseMoreProjectsNamed({
  members,
  invitations = [],
}: Pick<OrganizationRecord, 'members' | 'invitations'>): void {
  let count = 0;
  for (const { projectIds } of [...members, ...invitations]) count += projectIds?.length ?? 0;
  if (count <= maxProjectsNamed) return;
  throw new ConnectError(
    `the members and invitations of an organization name at most ${maxProjectsNamed} projects together`,
    Code.FailedPrecondition,
  );
}
