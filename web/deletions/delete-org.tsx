// Deletes an organization for good, with all its projects.

import { useState } from 'preact/hooks';
import type { Org } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { navigate } from '../router.ts';
import { toast } from '../ui/toasts.tsx';
import { loadWorkspace, orgsClient, projectsOf } from '../workspace.ts';
import { TypedConfirm } from './typed-confirm.tsx';

export function DeleteOrg({ org }: { org: Org }) {
  const [isAsked, setAsked] = useState(false);
  const { id, displayName } = org;
  const projects = projectsOf(id);
  const send = async (): Promise<void> => {
    await orgsClient.delete({ orgId: id, displayName });
    navigate('/?all');
    await loadWorkspace();
    toast(`${displayName} is deleted`);
  };
  return (
    <section class="card">
      <h2>Delete the organization</h2>
      <p class="hint">
        With {projects.length === 1 ? 'its project' : `its ${projects.length} projects`} and their
        data, its members, invitations, keys, webhooks and mail server. Nobody can bring them back.
      </p>
      <div>
        <button type="button" class="danger" onClick={() => setAsked(true)}>
          Delete {displayName}
        </button>
      </div>
      {isAsked ? (
        <TypedConfirm
          title={`Delete ${displayName}`}
          label={`Type ${displayName} to confirm`}
          name={displayName}
          action="Delete it for good"
          send={send}
          onClose={() => setAsked(false)}
        >
          <p>Deleted with it:</p>
          <ul>
            {projects.map((project) => (
              <li key={project.id}>{project.displayName}</li>
            ))}
          </ul>
        </TypedConfirm>
      ) : null}
    </section>
  );
}
