// Keys: public ones may only write and can be read again, private ones are shown once.

import { useState } from 'preact/hooks';
import {
  type ApiKey,
  ApiKeyKind,
  ApiKeyScope,
  type Project,
} from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { inProject } from '../client.ts';
import { useResource } from '../resource.ts';
import { NewKey } from '../senders/new-key.tsx';
import { Time, toDate } from '../time/time.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { toast } from '../ui/toasts.tsx';
import { hasRole, projectsClient, Role } from '../workspace.ts';
import { Secret } from './secret.tsx';

export function ProjectKeys({ project }: { project: Project }) {
  const keys = useResource(`keys ${project.id}`, (end) =>
    projectsClient.listApiKeys({}, inProject(project.id, end)),
  );
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<string>();
  const [revoked, setRevoked] = useState<ApiKey>();
  const revoke = async (key: ApiKey): Promise<void> => {
    await projectsClient.revokeApiKey({ id: key.id }, inProject(project.id));
    toast('Revoked: it stops everywhere within a second');
    keys.reload();
  };
  return (
    <section class="card">
      <header>
        <h2>Keys</h2>
        {hasRole(Role.ADMIN) ? (
          <button type="button" onClick={() => setMaking(true)}>
            New key
          </button>
        ) : null}
      </header>
      <Fault cause={keys.error} retry={keys.reload} />
      <KeyTable apiKeys={keys.data?.apiKeys ?? []} onRevoke={setRevoked} />
      {isMaking ? (
        <NewKey
          project={project}
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMaking(false);
            setMade(key);
            keys.reload();
          }}
        />
      ) : null}
      {made ? (
        <Secret title="The new key" secret={made} onClose={() => setMade(undefined)} />
      ) : null}
      {revoked ? (
        <Confirm
          title={`Revoke ${revoked.displayName || 'this key'}`}
          action="Revoke it"
          onConfirm={() => revoke(revoked)}
          onClose={() => setRevoked(undefined)}
        >
          <p>What sends or reads with it is refused within a second. This cannot be taken back.</p>
        </Confirm>
      ) : null}
    </section>
  );
}

const scopeNames: Record<ApiKeyScope, string> = {
  [ApiKeyScope.UNSPECIFIED]: '',
  [ApiKeyScope.ALL]: 'writes and reads',
  [ApiKeyScope.WRITE]: 'writes',
  [ApiKeyScope.READ]: 'reads',
};

function End({ apiKey: { expireTime } }: { apiKey: ApiKey }) {
  if (!expireTime) return <>–</>;
  return toDate(expireTime) <= new Date() ? (
    <span class="badge" data-tone="bad">
      expired
    </span>
  ) : (
    <Time at={expireTime} as="day" />
  );
}

function KeyRow({ apiKey, onRevoke }: { apiKey: ApiKey; onRevoke: () => void }) {
  const isPublic = apiKey.kind === ApiKeyKind.PUBLIC;
  return (
    <tr>
      <td>{apiKey.displayName || '–'}</td>
      <td data-label="Type">
        <span class="badge" data-tone={isPublic ? 'good' : 'warn'}>
          {isPublic ? 'public' : 'private'}
        </span>{' '}
        {scopeNames[apiKey.scope]}
      </td>
      <td data-label="Key" class="mono">
        {isPublic && apiKey.key ? (
          <span class="row tight">
            {apiKey.key.slice(0, 12)}…
            <CopyButton text={apiKey.key} what="Public key" />
          </span>
        ) : (
          'shown once'
        )}
      </td>
      <td data-label="Made">
        <Time at={apiKey.createTime} as="day" />
      </td>
      <td data-label="Ends">
        <End apiKey={apiKey} />
      </td>
      <td data-label="Last used">
        {apiKey.lastUseTime ? <Time at={apiKey.lastUseTime} /> : 'never'}
      </td>
      <td class="number">
        {hasRole(Role.ADMIN) ? (
          <button type="button" class="link danger-text" onClick={onRevoke}>
            Revoke
          </button>
        ) : null}
      </td>
    </tr>
  );
}

function KeyTable(props: { apiKeys: readonly ApiKey[]; onRevoke: (key: ApiKey) => void }) {
  return (
    <div class="scroll">
      <table class="stacks">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col">Key</th>
            <th scope="col">Made</th>
            <th scope="col">Ends</th>
            <th scope="col">Last used</th>
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.apiKeys.map((key) => (
            <KeyRow key={key.id} apiKey={key} onRevoke={() => props.onRevoke(key)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
