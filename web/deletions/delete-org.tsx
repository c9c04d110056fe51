// Deletes an organization for good, with all its projects.

import type { Org } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { navigate } from '../router.ts';
import { toast } from '../ui/toasts.tsx';
import { loadWorkspace, orgsClient, projectsOf } from '../workspace.ts';
import { DeleteCard } from './delete-card.tsx';

export function DeleteOrg({ org }: { org: Org }) {
  const { id, displayName } = org;
  const projects = projectsOf(id);
  const theirs = projects.length === 1 ? 'its project' : `its ${projects.length} projects`;
  const send = async (): Promise<void> => {
    await orgsClient.delete({ orgId: id, displayName });
    navigate('/?all');
    await loadWorkspace();
    toast(`${displayName} is deleted`);
  };
  return (
    <DeleteCard
      heading="Delete the organization"
      hint={`With ${theirs} and their data, its members, invitations, keys, webhooks and mail server. Nobody can bring them back.`}
      action={`Delete ${displayName}`}
      label={`Type ${displayName} to confirm`}
      name={displayName}
      send={send}
    >
      <p>Deleted with it:</p>
      <ul>
        {projects.map((project) => (
          <li key={project.id}>{project.displayName}</li>
        ))}
      </ul>
    </DeleteCard>
  );
}
