// Invitations that wait, and new ones. Where no mail server is set, the admin who invites gets the link to hand over.

import { useState } from 'preact/hooks';
import type { Invitation, Org } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { useResource } from '../resource.ts';
import { Time } from '../time/time.tsx';
import { Code } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { toast } from '../ui/toasts.tsx';
import { orgsClient, Role } from '../workspace.ts';
import { Action } from './action.tsx';
import {
  type Chosen,
  isChoice,
  ProjectChoice,
  projectNames,
  projectsField,
} from './people/project-choice.tsx';
import { roleChoices, roleName } from './role-choices.ts';

type HandedOver = { email: string; link: string };
/** `link` is empty where a mail takes it. */
type Sent = (email: string, link: string) => void;

export function Invitations(props: { org: Org; isInviting: boolean; end: () => void }) {
  const orgId = props.org.id;
  const list = useResource(`invitations ${orgId}`, (signal) =>
    orgsClient.listInvitations({ orgId }, { signal }),
  );
  const invitations = list.data?.invitations ?? [];
  const [handedOver, setHandedOver] = useState<HandedOver>();
  const sent = (email: string, link: string): void => {
    if (link === '') toast(`The invitation to ${email} is on its way`);
    else setHandedOver({ email, link });
    list.reload();
  };
  return (
    <section class="card">
      <h2>Open invitations</h2>
      <Fault cause={list.error} retry={list.reload} />
      {invitations.length === 0 ? <p class="hint">No open invitations.</p> : null}
      <div
        class="scroll"
        hidden={invitations.length === 0}
        tabIndex={0}
        role="region"
        aria-label="Open invitations: table"
      >
        <table class="stacks">
          <thead>
            <tr>
              <th scope="col">E-mail</th>
              <th scope="col">Role</th>
              <th scope="col">Projects</th>
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
                onSent={sent}
                onChange={list.reload}
              />
            ))}
          </tbody>
        </table>
      </div>
      {props.isInviting ? <Invite orgId={orgId} onSent={sent} onClose={props.end} /> : null}
      {handedOver ? <Link {...handedOver} onClose={() => setHandedOver(undefined)} /> : null}
    </section>
  );
}

/** The one who asked is the one who takes the link there: the service keeps a hash of it. */
function Link({ email, link, onClose }: HandedOver & { onClose: () => void }) {
  return (
    <Dialog title="No mail server is set" onClose={onClose}>
      <p>
        No mail goes out. Give this link to <strong>{email}</strong> yourself: it lets an account
        with that address in, once, within 7 days. It is shown this once; “Send again” makes
        another.
      </p>
      <Code text={link} what="Invitation link" />
      <div class="row end">
        <button type="button" class="primary" onClick={onClose}>
          I have copied it
        </button>
      </div>
    </Dialog>
  );
}

function Invite(props: { orgId: string; onSent: Sent; onClose: () => void }) {
  const { orgId, onClose } = props;
  const [email, setEmail] = useState('');
  const [role, setRole] = useState(String(Role.MEMBER));
  const [projects, setProjects] = useState<Chosen>();
  const isAdmin = role === String(Role.ADMIN);
  const chosen = isAdmin ? undefined : projects;
  const send = async (): Promise<void> => {
    const { link } = await orgsClient.inviteMember({
      ...{ orgId, email, role: Number(role) },
      ...projectsField(chosen),
    });
    onClose();
    props.onSent(email, link);
  };
  return (
    <Dialog title="Invite somebody" onClose={onClose}>
      <Form action="Send the invitation" send={send} isReady={email !== '' && isChoice(chosen)}>
        <Field label="E-mail" type="email" required value={email} onValue={setEmail} />
        <Select
          label="Role"
          hint="Viewers read. Members also edit boards and users. Admins also manage members, keys, mail and webhooks."
          value={role}
          options={roleChoices}
          onValue={setRole}
        />
        {isAdmin ? null : <ProjectChoice orgId={orgId} chosen={chosen} onChoose={setProjects} />}
      </Form>
    </Dialog>
  );
}

function InvitationRow(props: {
  orgId: string;
  invitation: Invitation;
  onSent: Sent;
  onChange: () => void;
}) {
  const { orgId } = props;
  const { id, email, role, expireTime, projects } = props.invitation;
  return (
    <tr>
      <td>{email}</td>
      <td data-label="Role">{roleName(role)}</td>
      <td data-label="Projects">{projectNames(orgId, projects?.projectIds)}</td>
      <td data-label="Good until">
        <Time at={expireTime} />
      </td>
      <td>
        <span class="row end">
          <Action
            class="link"
            label={`Send again to ${email}`}
            run={async () => {
              const { link } = await orgsClient.resendInvite({ orgId, id });
              props.onSent(email, link);
            }}
          >
            Send again
          </Action>
          <Action
            class="link danger-text"
            label={`Revoke the invitation of ${email}`}
            done="Revoked"
            run={async () => {
              await orgsClient.revokeInvite({ orgId, id });
              props.onChange();
            }}
          >
            Revoke
          </Action>
        </span>
      </td>
    </tr>
  );
}
