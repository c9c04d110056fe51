// Deletes a project for good, from its settings.

import type { Project } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { navigate } from '../router.ts';
import { toast } from '../ui/toasts.tsx';
import { hasRole, loadWorkspace, projectsClient, Role } from '../workspace.ts';
import { DeleteCard } from './delete-card.tsx';

export function DeleteProject({ project }: { project: Project }) {
  if (!hasRole(Role.ADMIN)) return null;
  const { id, orgId, displayName } = project;
  const send = async (): Promise<void> => {
    await projectsClient.delete({ orgId, id, displayName });
    // The page of a project that is gone says that there is none.
    navigate(`/o/${orgId}/settings?tab=general`);
    await loadWorkspace();
    toast(`${displayName} is deleted`);
  };
  return (
    <DeleteCard
      heading="Delete the project"
      hint="Its keys end at once, and its events, users, boards, alerts, exports and webhooks’ deliveries follow within a day. Nobody can bring them back."
      action={`Delete ${displayName}`}
      label={`Type ${displayName} to confirm`}
      name={displayName}
      send={send}
    >
      <p>Whatever sends events with its keys is refused from now on.</p>
    </DeleteCard>
  );
}
