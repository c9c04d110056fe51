// Deletes a project for good, from its settings.

import { useState } from 'preact/hooks';
import type { Project } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { navigate } from '../router.ts';
import { toast } from '../ui/toasts.tsx';
import { hasRole, loadWorkspace, projectsClient, Role } from '../workspace.ts';
import { TypedConfirm } from './typed-confirm.tsx';

export function DeleteProject({ project }: { project: Project }) {
  const [isAsked, setAsked] = useState(false);
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
    <section class="card">
      <h2>Delete the project</h2>
      <p class="hint">
        Its keys end at once, and its events, profiles, boards, alerts, exports and webhooks’
        deliveries follow within a day. Nobody can bring them back.
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
          <p>Whatever sends events with its keys is refused from now on.</p>
        </TypedConfirm>
      ) : null}
    </section>
  );
}
