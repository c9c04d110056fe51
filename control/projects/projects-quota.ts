// The quota of an organization's projects together: their number, and the bytes of their records. With the bound on a
// customer's organizations, nobody's projects take more than a fifth of their bucket.

import { Code, ConnectError } from '@connectrpc/connect';
import type { ProjectRecord } from '../../platform/access/projects.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { ProjectsByOrganization } from './by-organization.ts';

/** Every project is in the broker and in each process's memory. */
const maxProjects = 1_000;
const maxBytes = 1_048_576;

interface QuotaDeps {
  projects: Pick<WatchedBucket<ProjectRecord>, 'get'>;
  byOrganization: ProjectsByOrganization;
}

/** Throws failed_precondition where the organization has all the projects that it may have. */
export function refuseMoreProjects(deps: QuotaDeps, organizationId: string): void {
  if (deps.byOrganization.idsOf(organizationId).length >= maxProjects) {
    throw full(`an organization has at most ${maxProjects} projects`);
  }
  refuseMoreBytes(deps, organizationId);
}

/** Throws failed_precondition where the records hold all that they may. Calls at the same moment may all pass. */
export function refuseMoreBytes(
  { projects, byOrganization }: QuotaDeps,
  organizationId: string,
): void {
  let bytes = 0;
  for (const id of byOrganization.idsOf(organizationId)) {
    bytes += Buffer.byteLength(JSON.stringify(projects.get(id)?.record ?? {}));
  }
  if (bytes < maxBytes) return;
  const rule = `the projects of an organization, with their keys, take at most ${maxBytes} bytes`;
  throw full(`${rule}: revoke keys, or make another organization`);
}

function full(rule: string): ConnectError {
  return new ConnectError(rule, Code.FailedPrecondition);
}
