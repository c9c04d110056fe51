// Makes a key of a project: its kind, and of a private one what it opens and until when.

import { useState } from 'preact/hooks';
import {
  ApiKeyKind,
  ApiKeyScope,
  type Project,
} from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { inProject } from '../client.ts';
import { Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { useLastDay } from '../time/last-day.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { projectsClient } from '../workspace.ts';

type Kind = 'public' | keyof typeof scopes;

const scopes = {
  all: ApiKeyScope.ALL,
  read: ApiKeyScope.READ,
  write: ApiKeyScope.WRITE,
};

const kinds: readonly { value: Kind; name: string }[] = [
  { value: 'public', name: 'Public: sends events' },
  { value: 'all', name: 'Private: sends and reads' },
  { value: 'read', name: 'Private: reads only' },
  { value: 'write', name: 'Private: sends only' },
];

export function NewKey(props: {
  project: Project;
  onClose: () => void;
  onMade: (key: string) => void;
}) {
  const [displayName, setDisplayName] = useState('');
  const [kind, setKind] = useState<Kind>('public');
  const end = useLastDay();
  const send = async (): Promise<void> => {
    const rights =
      kind === 'public'
        ? { kind: ApiKeyKind.PUBLIC }
        : {
            ...{ kind: ApiKeyKind.PRIVATE, scope: scopes[kind] },
            ...(end.expireTime && { expireTime: end.expireTime }),
          };
    const { key } = await projectsClient.createApiKey(
      { displayName, ...rights },
      inProject(props.project.id),
    );
    props.onMade(key);
  };
  return (
    <Dialog title="New key" onClose={props.onClose}>
      <Form action="Create key" send={send} isReady={kind === 'public' || !end.isNoDay}>
        <Field
          label="Name"
          hint="Where it is used: a site, a server."
          maxLength={150}
          value={displayName}
          onValue={setDisplayName}
        />
        <Select
          label="Type"
          hint="A public key can only write and may stand in a page. Keep private keys on servers; only one that sends and reads may delete users."
          value={kind}
          options={kinds}
          onValue={setKind}
        />
        {kind === 'public' ? null : end.field}
      </Form>
    </Dialog>
  );
}
