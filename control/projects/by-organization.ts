// Finds the projects of an organization, by an index in memory beside the watched records: the broker finds a project
// by its own id only.

import type { ProjectRecord } from '../../platform/access/projects.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';

export interface ProjectsByOrganization {
  idsOf(organizationId: string): readonly string[];
}

export function createProjectsByOrganization(
  projects: Pick<WatchedBucket<ProjectRecord>, 'get' | 'records' | 'onChange'>,
): ProjectsByOrganization {
  const idsByOrganization = new Map<string, Set<string>>();
  const organizationOf = new Map<string, string>();
  const place = (id: string, organizationId: string | undefined): void => {
    const before = organizationOf.get(id);
    if (before === organizationId) return;
    if (before !== undefined) idsByOrganization.get(before)?.delete(id);
    organizationOf.delete(id);
    if (organizationId === undefined) return;
    organizationOf.set(id, organizationId);
    const ids = idsByOrganization.get(organizationId) ?? new Set();
    idsByOrganization.set(organizationId, ids.add(id));
  };
  for (const [id, { organizationId }] of projects.records()) place(id, organizationId);
  projects.onChange((id) => place(id, projects.get(id)?.record.organizationId));
  return { idsOf: (organizationId) => [...(idsByOrganization.get(organizationId) ?? [])] };
}
