// Which projects of an organization somebody has: all, those made later too, or some.

import { Check } from '../../fields/field.tsx';
import { projectsOf } from '../../workspace.ts';

/** Ids of projects; undefined: all. */
export type Chosen = readonly string[] | undefined;

export function ProjectChoice(props: {
  orgId: string;
  chosen: Chosen;
  onChoose: (chosen: Chosen) => void;
}) {
  const { orgId, chosen, onChoose } = props;
  return (
    <fieldset>
      <legend>Projects</legend>
      <Check
        label="All projects, those made later too"
        checked={chosen === undefined}
        onValue={(isAll) => onChoose(isAll ? undefined : [])}
      />
      {chosen === undefined
        ? null
        : projectsOf(orgId).map(({ id, displayName }) => (
            <Check
              key={id}
              label={displayName}
              checked={chosen.includes(id)}
              onValue={(isOn) =>
                onChoose(isOn ? [...chosen, id] : chosen.filter((one) => one !== id))
              }
            />
          ))}
    </fieldset>
  );
}

/** A request's field: absent where all are chosen. */
export function projectsField(chosen: Chosen): { projects?: { projectIds: string[] } } {
  return chosen === undefined ? {} : { projects: { projectIds: [...chosen] } };
}

/** Whether a choice can be sent: none at all is no choice. */
export function isChoice(chosen: Chosen): boolean {
  return chosen === undefined || chosen.length > 0;
}

/** The projects of a member or an invitation in words. */
export function projectNames(orgId: string, projectIds: Chosen): string {
  if (projectIds === undefined) return 'All';
  const names = projectsOf(orgId)
    .filter(({ id }) => projectIds.includes(id))
    .map(({ displayName }) => displayName);
  return names.length === 0 ? 'None' : names.join(', ');
}
