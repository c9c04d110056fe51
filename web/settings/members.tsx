// Members with their roles, and invitations that wait.

import { useState } from 'preact/hooks';
import type { Invitation, Member, Org } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { explain } from '../client.ts';
import { Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { useResource } from '../resource.ts';
import { session } from '../session.ts';
import { Time } from '../time/time.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { toast } from '../ui/toasts.tsx';
import { orgsClient, Role } from '../workspace.ts';
import { Action } from './action.tsx';
import { roleChoices, roleName } from './role-choices.ts';

export function Members({ org }: { org: Org }) {
  const members = useResource(`members ${org.id}`, (signal) =>
    orgsClient.listMembers({ orgId: org.id }, { signal }),
  );
  const [isInviting, setInviting] = useState(false);
  const isAdmin = org.role >= Role.ADMIN;
  const now = session.value;
  const ownId = now.state === 'signed-in' ? now.person.id : '';
  // What stands below the members would move down as they come.
  if (!members.data && !members.error) return <Loading of="the members" />;
  return (
    <>
      <section class="card">
        <header>
          <h2>Members</h2>
          {isAdmin ? (
            <button type="button" class="primary" onClick={() => setInviting(true)}>
              Invite
            </button>
          ) : null}
        </header>
        <Fault cause={members.error} retry={members.reload} />
        <div class="scroll" tabIndex={0} role="region" aria-label="Members: table">
          <table>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">E-mail</th>
                <th scope="col">Role</th>
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {(members.data?.members ?? []).map((member) => (
                <MemberRow
                  key={member.customerId}
                  orgId={org.id}
                  member={member}
                  mayChange={isAdmin && member.customerId !== ownId}
                  onChange={members.reload}
                />
              ))}
            </tbody>
          </table>
        </div>
      </section>
      {isAdmin ? (
        <Invitations org={org} isInviting={isInviting} end={() => setInviting(false)} />
      ) : null}
    </>
  );
}

function Invitations(props: { org: Org; isInviting: boolean; end: () => void }) {
  const orgId = props.org.id;
  const list = useResource(`invitations ${orgId}`, (signal) =>
    orgsClient.listInvitations({ orgId }, { signal }),
  );
  const invitations = list.data?.invitations ?? [];
  return (
    <section class="card">
      <h2>Open invitations</h2>
      <Fault cause={list.error} retry={list.reload} />
      {invitations.length === 0 ? <p class="hint">None waits.</p> : null}
      <div
        class="scroll"
        hidden={invitations.length === 0}
        tabIndex={0}
        role="region"
        aria-label="Open invitations: table"
      >
        <table>
          <thead>
            <tr>
              <th scope="col">E-mail</th>
              <th scope="col">Role</th>
              <th scope="col">Good until</th>
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {invitations.map((invitation) => (
              <InvitationRow
                key={invitation.id}
                orgId={orgId}
                invitation={invitation}
                onChange={list.reload}
              />
            ))}
          </tbody>
        </table>
      </div>
      {props.isInviting ? (
        <Invite
          orgId={orgId}
          onClose={() => {
            props.end();
            list.reload();
          }}
        />
      ) : null}
    </section>
  );
}

function Invite({ orgId, onClose }: { orgId: string; onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState(String(Role.MEMBER));
  const send = async (): Promise<void> => {
    await orgsClient.inviteMember({ orgId, email, role: Number(role) });
    toast(`The invitation to ${email} is on its way`);
    onClose();
  };
  return (
    <Dialog title="Invite somebody" onClose={onClose}>
      <Form action="Send the invitation" send={send} isReady={email !== ''}>
        <Field label="E-mail" type="email" required value={email} onValue={setEmail} />
        <Select
          label="Role"
          hint="Viewers read. Members also write boards and profiles. Admins also manage people, keys, mail and webhooks."
          value={role}
          options={roleChoices}
          onValue={setRole}
        />
      </Form>
    </Dialog>
  );
}

function MemberRow(props: {
  orgId: string;
  member: Member;
  mayChange: boolean;
  onChange: () => void;
}) {
  const { orgId, member, mayChange, onChange } = props;
  return (
    <tr>
      <td>{member.displayName}</td>
      <td>{member.email}</td>
      <td>
        {mayChange ? (
          <Select
            label={`Role of ${member.email}`}
            isLabelHidden
            value={String(member.role)}
            options={roleChoices}
            onValue={(role) =>
              void orgsClient
                .updateMemberRole({
                  orgId,
                  customerId: member.customerId,
                  role: Number(role),
                })
                .then(
                  () => toast(`${member.email} is now ${roleName(Number(role))}`),
                  (cause: unknown) => toast(explain(cause).what),
                )
                .finally(onChange)
            }
          />
        ) : (
          roleName(member.role)
        )}
      </td>
      <td class="number">
        {mayChange ? (
          <Action
            class="link danger-text"
            label={`Remove ${member.email}`}
            done="Removed"
            run={async () => {
              await orgsClient.removeMember({
                orgId,
                customerId: member.customerId,
              });
              onChange();
            }}
          >
            Remove
          </Action>
        ) : null}
      </td>
    </tr>
  );
}

function InvitationRow(props: { orgId: string; invitation: Invitation; onChange: () => void }) {
  const { orgId } = props;
  const { id, email, role, expireTime } = props.invitation;
  return (
    <tr>
      <td>{email}</td>
      <td>{roleName(role)}</td>
      <td>
        <Time at={expireTime} />
      </td>
      <td>
        <span class="row end">
          <Action
            class="link"
            label={`Send again to ${email}`}
            done="Sent again"
            run={async () => {
              await orgsClient.resendInvite({ orgId, id });
              props.onChange();
            }}
          >
            Send again
          </Action>
          <Action
            class="link danger-text"
            label={`Take back the invitation of ${email}`}
            done="Taken back"
            run={async () => {
              await orgsClient.revokeInvite({ orgId, id });
              props.onChange();
            }}
          >
            Take back
          </Action>
        </span>
      </td>
    </tr>
  );
}
