// The members of a project to whom something is mailed.

import type { Member } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { useResource } from '../resource.ts';
import { currentOrg, orgsClient } from '../workspace.ts';
import { Check } from './field.tsx';

/** Of the organization. Undefined until they are loaded. */
export function useMembers(): Member[] | undefined {
  const org = currentOrg.value;
  const { data } = useResource(org ? `members ${org.id}` : undefined, (signal) =>
    orgsClient.listMembers({ orgId: org?.id ?? '' }, { signal }),
  );
  return data?.members;
}

/** Likewise, those who may see the project. */
export function useMembersOfProject(projectId: string): Member[] | undefined {
  return useMembers()?.filter(
    ({ projects }) => projects === undefined || projects.projectIds.includes(projectId),
  );
}

/** Who has left, or has the project no more, is no recipient any more. */
export function stillMembers(told: readonly string[], members: Member[] | undefined): string[] {
  return told.filter((id) => members?.some(({ customerId }) => customerId === id) !== false);
}

/** `told`: the ids of those who are chosen. `hint` says what they get. */
export function MembersField(props: {
  members: readonly Member[];
  told: readonly string[];
  onChange: (ids: string[]) => void;
  hint: string;
}) {
  const { members, told, onChange } = props;
  return (
    <fieldset>
      <legend>Mail to</legend>
      {members.map(({ customerId, displayName, email }) => (
        <Check
          key={customerId}
          label={displayName ? `${displayName}, ${email}` : email}
          checked={told.includes(customerId)}
          onValue={(isOn) =>
            onChange(isOn ? [...told, customerId] : told.filter((id) => id !== customerId))
          }
        />
      ))}
      <p class="hint">{props.hint}</p>
    </fieldset>
  );
}
