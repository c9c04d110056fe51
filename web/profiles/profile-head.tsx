// The head of a person's page: the name, and what may be done with the person as a whole.

import { useState } from 'preact/hooks';
import type { Profile } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { inProject } from '../client.ts';
import { forget } from '../resource.ts';
import { navigate, setQuery } from '../router.ts';
import { userName } from '../text/user-name.ts';
import { CopyButton } from '../ui/copy.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { toast } from '../ui/toasts.tsx';
import { hasRole, Role } from '../workspace.ts';
import { ExportHeld } from './export-held.tsx';
import { profilesClient } from './profiles-client.ts';

type Asked = 'delete' | 'erase';

export function ProfileHead({ projectId, profile }: { projectId: string; profile: Profile }) {
  const [asked, setAsked] = useState<Asked>();
  const name = userName(profile);
  return (
    <div class="page-head">
      <div>
        <h1 tabIndex={-1}>{name}</h1>
        <p class="row tight mono">
          {profile.externalId || profile.id}
          <CopyButton text={profile.externalId || profile.id} what="Id" />
        </p>
      </div>
      <div class="row">
        {hasRole(Role.ADMIN) ? <ExportHeld projectId={projectId} profile={profile} /> : null}
        {hasRole(Role.MEMBER) ? <Removals onAsk={setAsked} /> : null}
      </div>
      {asked === 'delete' ? (
        <Confirm
          title={`Delete ${name}`}
          action="Delete user"
          onConfirm={() => hide(projectId, profile)}
          onClose={() => setAsked(undefined)}
        >
          <p>
            Traits go, and the user leaves lists and figures of users. Events stay in totals. A
            later Identify with the same id begins anew.
          </p>
        </Confirm>
      ) : null}
      {asked === 'erase' ? (
        <Confirm
          title={`Erase ${name}`}
          action="Erase user data"
          onConfirm={() => erase(projectId, profile)}
          onClose={() => setAsked(undefined)}
        >
          <p>
            Everything that is held of this user goes for good: traits and merged ids, events,
            visits, dead letters and the log of webhooks. Figures of past days change, and kept
            exports of the project end.
          </p>
        </Confirm>
      ) : null}
    </div>
  );
}

/** Two that cannot be told apart by a word. */
function Removals({ onAsk }: { onAsk: (asked: Asked) => void }) {
  return (
    <Menu
      label="Remove"
      align="end"
      button={
        <span class="row tight">
          <Icon name="trash" />
          Remove
          <Icon name="down" />
        </span>
      }
    >
      <MenuItem onChoose={() => onAsk('delete')}>
        Delete user
        <small class="says">Takes the user out of lists. Events stay and count in totals.</small>
      </MenuItem>
      {hasRole(Role.ADMIN) ? (
        <MenuItem isDanger onChoose={() => onAsk('erase')}>
          Erase user data
          <small class="says">Removes all that is held of them for good, events too.</small>
        </MenuItem>
      ) : null}
    </Menu>
  );
}

async function hide(projectId: string, { id }: Profile): Promise<void> {
  await profilesClient.delete({ id }, inProject(projectId));
  forget(`profiles ${projectId}`);
  toast('Deleted: the user is in no list and no figure of users any more');
  navigate(`/p/${projectId}/profiles`);
}

async function erase(projectId: string, { id }: Profile): Promise<void> {
  const { requestId } = await profilesClient.deleteDataSubject({ id }, inProject(projectId));
  forget(`profile`);
  // In the address, so that whoever must prove the erasure can come back to it.
  setQuery({ erasure: requestId }, { replace: true });
}
