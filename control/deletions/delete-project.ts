// ProjectsService.Delete and ListDeletions. The request is written first, then what lets anybody in is taken away: the
// project's record with its keys, and the list with the shares of its boards. All else is erasure/'s.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  askForDeletion,
  type Deletion,
  projectDeletionsOf,
} from '../../platform/erasure/ask-for-deletion.ts';
import { type ErasureRecord, erasureKey } from '../../platform/erasure/erasure-record.ts';
import {
  type DeleteRequest,
  type ProjectDeletion,
  ProjectDeletionSchema,
} from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { invalidArgument, requiredField } from '../request-fields.ts';
import type { SignedInMember } from '../signed-in-customer.ts';
import type { DeletionDeps } from './deletion-deps.ts';

/** Of a list. */
const maxListed = 100;

/** Throws not_found for a project of another organization, and invalid_argument for another name than its own. */
export async function deleteProject(
  deps: DeletionDeps,
  request: DeleteRequest,
  { organizationId }: SignedInMember,
): Promise<{ deletion: ProjectDeletion }> {
  const id = requiredField('id', request.id);
  const found = deps.projects.get(id);
  const project = found?.record;
  if (project === undefined || project.organizationId !== organizationId) {
    return { deletion: deletionMessage(await knownDeletion(deps, organizationId, id)) };
  }
  const { displayName } = project;
  if (requiredField('displayName', request.displayName) !== displayName) {
    throw invalidArgument('displayName', 'is not the name of the project');
  }
  return {
    deletion: deletionMessage(await closeProject(deps, { id, organizationId, displayName })),
  };
}

/** From then on nobody gets in. May be called again. */
export async function closeProject(
  { deletions, projects, dashboardLists, clock }: DeletionDeps,
  project: Omit<Deletion, 'kind'>,
): Promise<ErasureRecord> {
  const record = await askForDeletion(deletions, { kind: 'project', ...project }, clock);
  await projects.remove(project.id);
  await dashboardLists.remove(project.id);
  return record;
}

export function listDeletions(
  { deletions }: Pick<DeletionDeps, 'deletions'>,
  { organizationId }: SignedInMember,
): { deletions: ProjectDeletion[] } {
  const records = projectDeletionsOf(deletions, organizationId).slice(0, maxListed);
  return { deletions: records.map(deletionMessage) };
}

async function knownDeletion(
  { deletions }: Pick<DeletionDeps, 'deletions'>,
  organizationId: string,
  id: string,
): Promise<ErasureRecord> {
  const known = /^[\w-]+$/.test(id) ? await deletions.ask(erasureKey(id)) : undefined;
  const record = known?.kind === 'found' ? known.record : undefined;
  const isTheirs =
    record?.whole?.kind === 'project' && record.whole.organizationId === organizationId;
  if (!isTheirs) throw new ConnectError('there is no such project', Code.NotFound);
  return record;
}

function deletionMessage(record: ErasureRecord): ProjectDeletion {
  const { requestId, whole, requestedAtMs, completedAtMs, firstCompletedAtMs, events } = record;
  return create(ProjectDeletionSchema, {
    projectId: requestId,
    displayName: whole?.displayName ?? '',
    requestTime: timestampFromMs(requestedAtMs),
    ...(completedAtMs > 0 && { completeTime: timestampFromMs(completedAtMs) }),
    ...(firstCompletedAtMs !== undefined && {
      firstCompleteTime: timestampFromMs(firstCompletedAtMs),
    }),
    events: BigInt(events),
  });
}
