// What the project's goals have reached in the overview's range: number, rate and revenue of each. A goal opens by
// source and page.

import { useState } from 'preact/hooks';
import { change, percent, shortFigure } from '../../platform/words/figures.ts';
import { FilterOperator } from '../../proto/gen/common/v1/filter_pb.js';
import type { Goal, MeasuredGoal } from '../../proto/gen/dashboard/goals/v1/goals_pb.js';
import { inProject } from '../client.ts';
import { useResource } from '../resource.ts';
import { Updating } from '../retries/updating.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { hasRole, Role } from '../workspace.ts';
import { GoalDialog } from './goal-form.tsx';
import { GoalGroups } from './goal-groups.tsx';
import { goalsClient, type Measured } from './goals-client.ts';

/** `name` names all that `asked` says; undefined while it is not known. */
export function GoalsCard(props: { projectId: string; name: string | undefined; asked: Measured }) {
  const { projectId, name, asked } = props;
  const key = name === undefined ? undefined : `goals ${projectId} ${name}`;
  const answer = useResource(key, (end) => goalsClient.measure(asked, inProject(projectId, end)));
  const [isMaking, setMaking] = useState(false);
  const [open, setOpen] = useState<Goal>();
  const [changed, setChanged] = useState<Goal>();
  const goals = answer.data?.goals ?? [];
  const mayWrite = hasRole(Role.MEMBER);
  const saved = (): void => {
    setMaking(false);
    setChanged(undefined);
    answer.reload();
  };
  return (
    <section class="card" aria-label="Goals" aria-busy={answer.isLoading}>
      <header>
        <Updating isOn={answer.isLoading && answer.data !== undefined}>
          <h2>Goals</h2>
        </Updating>
        {mayWrite ? (
          <button type="button" onClick={() => setMaking(true)}>
            New goal
          </button>
        ) : null}
      </header>
      <Fault cause={answer.error} retry={answer.reload} />
      {answer.isLoading && !answer.data ? <Loading of="goals" /> : null}
      {answer.data && goals.length === 0 ? (
        <p class="hint">
          None yet. A goal is an event that you want to see, such as a sign-up or a purchase: it is
          counted here, with its share of the visitors and its revenue.
        </p>
      ) : null}
      {goals.length > 0 ? <GoalTable goals={goals} onOpen={setOpen} /> : null}
      {isMaking ? (
        <GoalDialog projectId={projectId} onSaved={saved} onClose={() => setMaking(false)} />
      ) : null}
      {open ? (
        <GoalGroups
          {...{ projectId, name, asked }}
          goal={open}
          mayWrite={mayWrite}
          onChange={() => {
            setChanged(open);
            setOpen(undefined);
          }}
          onDeleted={() => {
            setOpen(undefined);
            answer.reload();
          }}
          onClose={() => setOpen(undefined)}
        />
      ) : null}
      {changed ? (
        <GoalDialog
          projectId={projectId}
          before={changed}
          onSaved={saved}
          onClose={() => setChanged(undefined)}
        />
      ) : null}
    </section>
  );
}

function GoalTable(props: { goals: readonly MeasuredGoal[]; onOpen: (goal: Goal) => void }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Goals: table">
      <table class="stacks">
        <thead>
          <tr>
            <th scope="col">Goal</th>
            <th scope="col" class="number">
              Reached
            </th>
            <th scope="col" class="number">
              Users
            </th>
            <th scope="col" class="number" title="Of all users of the range">
              Rate
            </th>
            <th scope="col" class="number">
              Revenue
            </th>
          </tr>
        </thead>
        <tbody>
          {props.goals.map((measured) => (
            <Row key={measured.goal?.id} measured={measured} onOpen={props.onOpen} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The one that the goal's condition keeps. */
function currencyOf({ filters }: Goal): string | undefined {
  const { EQUALS } = FilterOperator;
  const kept = filters.find(
    ({ property, operator }) => property === 'currency' && operator === EQUALS,
  );
  return kept?.value || undefined;
}

function Row(props: { measured: MeasuredGoal; onOpen: (goal: Goal) => void }) {
  const { goal, figures, previous } = props.measured;
  if (!goal || !figures) return null;
  const { completions = 0, users = 0, rate = 0, revenue } = figures;
  const since = previous && change(completions, previous.completions ?? 0);
  return (
    <tr>
      <th scope="row">
        <button type="button" class="link" onClick={() => props.onOpen(goal)}>
          {goal.displayName}
        </button>
      </th>
      <td class="number" data-label="Reached">
        {since ? <small>{since}</small> : null} {shortFigure(completions)}
      </td>
      <td class="number" data-label="Users">
        {shortFigure(users)}
      </td>
      <td class="number" data-label="Rate">
        {percent(rate)}
      </td>
      <td class="number" data-label="Revenue">
        {revenue === undefined ? (
          '–'
        ) : (
          <>
            {shortFigure(revenue)} <small>{currencyOf(goal) ?? 'all currencies'}</small>
          </>
        )}
      </td>
    </tr>
  );
}
