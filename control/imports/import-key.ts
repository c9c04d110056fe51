// The private key with which an import sends its events: made when the import begins or goes on, gone when it ends. The
// list of the project's keys shows it, and whoever revokes it there ends the import.

import type { Clock } from '../../platform/clock.ts';
import type { Import } from '../../proto/gen/dashboard/imports/v1/imports_pb.js';
import { changeProject, createApiKey, type ProjectStore } from '../projects/project-record.ts';

type MadeKey = { kind: 'made'; privateKey: string } | { kind: 'refused'; why: string };

/** In place of the key of a run that was killed. */
export async function makeImportKey(
  projects: ProjectStore,
  projectId: string,
  record: Import,
  clock: Clock,
): Promise<MadeKey> {
  await endImportKey(projects, projectId, record, clock);
  const options = { kind: 'private', displayName: nameOf(record) } as const;
  const made = await createApiKey(projects, projectId, options, clock);
  switch (made.kind) {
    case 'created':
      return { kind: 'made', privateKey: made.key.raw };
    case 'too_many_keys': {
      const why = `an import needs a key of its own, and the project has ${made.max}: revoke one`;
      return { kind: 'refused', why };
    }
    case 'project_not_found':
      return { kind: 'refused', why: 'the project is gone' };
    default:
      return made satisfies never;
  }
}

/** The key leaves the record: nobody else has known it. */
export async function endImportKey(
  projects: ProjectStore,
  projectId: string,
  record: Import,
  clock: Clock,
): Promise<void> {
  await changeProject(projects, projectId, clock, (project) => {
    const keys = project.keys.filter(({ displayName }) => displayName !== nameOf(record));
    return keys.length === project.keys.length ? project : { ...project, keys };
  });
}

function nameOf({ id }: Import): string {
  return `Import ${id}`;
}
