// One goal by source and page: the visits that reached it, and their share of all visits that began so.

import { useState } from 'preact/hooks';
import { percent, shortFigure } from '../../platform/words/figures.ts';
import { othersName } from '../../platform/words/insight-words.ts';
import { readablePath } from '../../platform/words/readable-path.ts';
import type { Goal, GoalGroup } from '../../proto/gen/dashboard/goals/v1/goals_pb.js';
import { inProject } from '../client.ts';
import { useResource } from '../resource.ts';
import { Action } from '../settings/action.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { goalsClient, type Measured } from './goals-client.ts';

export function GoalGroups(props: {
  projectId: string;
  name: string | undefined;
  asked: Measured;
  goal: Goal;
  mayWrite: boolean;
  onChange: () => void;
  onDeleted: () => void;
  onClose: () => void;
}) {
  const { projectId, name, asked, goal } = props;
  const [isLeaving, setLeaving] = useState(false);
  const key = name === undefined ? undefined : `goal ${goal.id} ${name}`;
  const answer = useResource(key, (end) =>
    goalsClient.measure({ ...asked, goalId: goal.id }, inProject(projectId, end)),
  );
  const [measured] = answer.data?.goals ?? [];
  const { visits = 0, visitRate = 0 } = measured?.figures ?? {};
  return (
    <Dialog title={goal.displayName} onClose={props.onClose}>
      <Fault cause={answer.error} retry={answer.reload} />
      {answer.isLoading && !measured ? <Loading of="visits" /> : null}
      {measured ? (
        <>
          <p>
            {shortFigure(visits)} {visits === 1 ? 'visit' : 'visits'} reached it,{' '}
            {percent(visitRate)} of all.
          </p>
          <Groups name="Source" lacking="No referring site" groups={measured.sources} />
          <Groups name="Entry page" lacking="No path" groups={measured.pages} />
        </>
      ) : null}
      {props.mayWrite ? (
        <div class="row end">
          {isLeaving ? (
            <Action
              class="danger"
              done="Deleted"
              run={async () => {
                await goalsClient.delete({ id: goal.id }, inProject(projectId));
                props.onDeleted();
              }}
            >
              Delete it for good
            </Action>
          ) : (
            <button type="button" class="link danger-text" onClick={() => setLeaving(true)}>
              Delete
            </button>
          )}
          <button type="button" onClick={props.onChange}>
            Change it
          </button>
        </div>
      ) : null}
    </Dialog>
  );
}

function Groups(props: { name: string; lacking: string; groups: readonly GoalGroup[] }) {
  const { name, lacking, groups } = props;
  if (groups.length === 0) return null;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`${name}: table`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{name}</th>
            <th scope="col" class="number">
              Visits
            </th>
            <th scope="col" class="number">
              Of all
            </th>
          </tr>
        </thead>
        <tbody>
          {groups.map(({ value, isOthers, visits = 0, visitRate }) => (
            <tr key={isOthers ? 'others' : `value ${value}`}>
              <th scope="row">
                {isOthers ? othersName : value === undefined ? lacking : readablePath(value)}
              </th>
              <td class="number">{shortFigure(visits)}</td>
              <td class="number">{visitRate === undefined ? '–' : percent(visitRate)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
