// Keys of the organization: they manage webhooks from programs, with a role of their own.

import { useState } from 'preact/hooks';
import type { Org, OrgKey } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { useResource } from '../resource.ts';
import { Time } from '../time/time.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { orgsClient, Role } from '../workspace.ts';
import { Action } from './action.tsx';
import { roleChoices, roleName } from './role-choices.ts';
import { Secret } from './secret.tsx';

export function OrgKeys({ org }: { org: Org }) {
  const isAdmin = org.role >= Role.ADMIN;
  const keys = useResource(isAdmin ? `org keys ${org.id}` : undefined, (signal) =>
    orgsClient.listOrgKeys({ orgId: org.id }, { signal }),
  );
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<string>();
  if (!isAdmin) return <p class="hint">Admins of the organization see and make its keys.</p>;
  const list = keys.data?.orgKeys ?? [];
  return (
    <section class="card">
      <header>
        <h2>Organization keys</h2>
        <button type="button" onClick={() => setMaking(true)}>
          New key
        </button>
      </header>
      <p class="hint">
        Programs manage webhooks with them: <code>Authorization: Bearer org_…</code>
      </p>
      <Fault cause={keys.error} retry={keys.reload} />
      <div
        class="scroll"
        hidden={list.length === 0}
        tabIndex={0}
        role="region"
        aria-label="Organization keys: table"
      >
        <table class="stacks">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Role</th>
              <th scope="col">Made</th>
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {list.map((key) => (
              <OrgKeyRow key={key.id} orgId={org.id} orgKey={key} onChange={keys.reload} />
            ))}
          </tbody>
        </table>
      </div>
      {isMaking ? (
        <NewOrgKey
          org={org}
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMaking(false);
            setMade(key);
            keys.reload();
          }}
        />
      ) : null}
      {made ? (
        <Secret title="The organization key" secret={made} onClose={() => setMade(undefined)} />
      ) : null}
    </section>
  );
}

function NewOrgKey(props: { org: Org; onClose: () => void; onMade: (key: string) => void }) {
  const [displayName, setDisplayName] = useState('');
  const [role, setRole] = useState(String(Role.ADMIN));
  const send = async (): Promise<void> => {
    const answer = await orgsClient.createOrgKey({
      orgId: props.org.id,
      displayName,
      role: Number(role),
    });
    props.onMade(answer.key);
  };
  return (
    <Dialog title="New organization key" onClose={props.onClose}>
      <Form action="Create key" send={send} isReady={displayName.trim() !== ''}>
        <Field label="Name" maxLength={150} value={displayName} onValue={setDisplayName} />
        <Select
          label="Role"
          hint="Viewers read webhooks and their logs; admins change them."
          value={role}
          options={roleChoices}
          onValue={setRole}
        />
      </Form>
    </Dialog>
  );
}

function OrgKeyRow(props: { orgId: string; orgKey: OrgKey; onChange: () => void }) {
  const { id, displayName, role, createTime } = props.orgKey;
  return (
    <tr>
      <td>{displayName}</td>
      <td data-label="Role">{roleName(role)}</td>
      <td data-label="Made">
        <Time at={createTime} as="day" />
      </td>
      <td class="number">
        <Action
          class="link danger-text"
          label={`Revoke ${displayName}`}
          done="Revoked"
          run={async () => {
            await orgsClient.revokeOrgKey({ orgId: props.orgId, id });
            props.onChange();
          }}
        >
          Revoke
        </Action>
      </td>
    </tr>
  );
}
