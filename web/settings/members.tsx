// Members with their roles and projects. Invitations that wait are invitations.tsx's.

import { useState } from 'preact/hooks';
import type { Member, Org } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { explain } from '../client.ts';
import { Select } from '../fields/field.tsx';
import { useResource } from '../resource.ts';
import { session } from '../session.ts';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { toast } from '../ui/toasts.tsx';
import { orgsClient, Role } from '../workspace.ts';
import { Action } from './action.tsx';
import { Invitations } from './invitations.tsx';
import { MemberProjects } from './people/member-projects.tsx';
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
          <table class="stacks">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">E-mail</th>
                <th scope="col">Role</th>
                <th scope="col">Projects</th>
                {isAdmin ? <th scope="col">Second factor</th> : null}
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
      <td data-label="E-mail">{member.email}</td>
      <td data-label="Role">
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
      <td data-label="Projects">
        <MemberProjects
          {...{ orgId, member, onChange }}
          mayChange={mayChange && member.role !== Role.ADMIN}
        />
      </td>
      {member.hasSecondFactor === undefined ? null : (
        <td data-label="Second factor">{member.hasSecondFactor ? 'Yes' : 'No'}</td>
      )}
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
