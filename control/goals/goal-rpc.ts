// GoalsService without Measure: checks requests about goals and makes the answers. Keeping them is
// control/project-items'; measuring them is query/'s.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { newId } from '../../platform/access/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import { goalQuestion } from '../../platform/goals/goal-question.ts';
import {
  type CreateRequest,
  type DeleteRequest,
  type GetRequest,
  type Goal,
  GoalSchema,
  type UpdateRequest,
} from '../../proto/gen/dashboard/goals/v1/goals_pb.js';
import type { CheckQuestion } from '../dashboards/tile-fields.ts';
import { refuseLargeItem } from '../project-items/item-bounds.ts';
import {
  createItemStore,
  type ItemStore,
  type ItemStoreDeps,
} from '../project-items/item-store.ts';
import { displayNameField, invalidArgument, requiredField } from '../request-fields.ts';
import type { SignedInMember, SignedInProjectMember } from '../signed-in-customer.ts';

export interface GoalDeps {
  goals: ItemStore<Goal>;
  checkQuestion: CheckQuestion;
  clock: Clock;
}

type Caller = SignedInMember & SignedInProjectMember;

export const maxGoals = 20;
const maxFilters = 10;
const goalSize = { noun: 'a goal', maxBytes: 8_192, field: 'filters' } as const;

export function createGoals(deps: ItemStoreDeps): ItemStore<Goal> {
  const kind = { kind: 'goals', noun: 'goal', max: maxGoals } as const;
  return createItemStore(deps, { ...kind, schema: GoalSchema }, (message) => message);
}

export function listGoals(
  { goals }: GoalDeps,
  { projectId }: SignedInProjectMember,
): { goals: Goal[] } {
  return { goals: goals.list(projectId) };
}

export async function getGoal(
  { goals }: GoalDeps,
  request: GetRequest,
  { projectId }: SignedInProjectMember,
): Promise<{ goal: Goal }> {
  return { goal: await goals.find(projectId, requiredField('id', request.id)) };
}

export async function createGoal(
  deps: GoalDeps,
  request: CreateRequest,
  caller: Caller,
): Promise<{ goal: Goal }> {
  const { kind, filters, valueProperty } = request;
  const now = timestampFromMs(deps.clock.nowMs());
  const goal = create(GoalSchema, {
    ...{ id: newId(), kind: requiredField('kind', kind), filters, valueProperty },
    displayName: displayNameField('displayName', request.displayName),
    ...{ createTime: now, updateTime: now },
  });
  check(deps, goal);
  return { goal: await deps.goals.create(caller, goal) };
}

export async function updateGoal(
  deps: GoalDeps,
  request: UpdateRequest,
  caller: Caller,
): Promise<{ goal: Goal }> {
  const id = requiredField('id', request.id);
  const { displayName, kind, filters, valueProperty } = request;
  const given = {
    ...(displayName !== undefined && { displayName: displayNameField('displayName', displayName) }),
    ...(kind !== undefined && { kind: requiredField('kind', kind) }),
    ...(filters !== undefined && { filters: filters.filters }),
    ...(valueProperty !== undefined && { valueProperty }),
    updateTime: timestampFromMs(deps.clock.nowMs()),
  };
  const isAsked = [kind, filters, valueProperty].some((field) => field !== undefined);
  const goal = await deps.goals.change(caller, id, (before) => {
    const after = { ...before, ...given };
    // The service may have become stricter since the goal was saved: that keeps nobody from renaming.
    if (isAsked) check(deps, after);
    return after;
  });
  return { goal };
}

export async function deleteGoal(
  { goals }: GoalDeps,
  request: DeleteRequest,
  { projectId }: SignedInProjectMember,
): Promise<Record<string, never>> {
  await goals.delete(projectId, requiredField('id', request.id));
  return {};
}

/** Throws invalid_argument where the goal is too large, or could not be measured whatever the time. */
function check({ checkQuestion }: GoalDeps, goal: Goal): void {
  if (goal.filters.length > maxFilters) {
    throw invalidArgument('filters', `must be at most ${maxFilters}`);
  }
  refuseLargeItem(GoalSchema, goal, goalSize);
  try {
    checkQuestion(goalQuestion(goal), undefined);
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code !== Code.InvalidArgument) throw error;
    throw new ConnectError(inGoal(error.rawMessage), Code.InvalidArgument);
  }
}

/** The checker names fields of its question. */
function inGoal(message: string): string {
  return message
    .replace(/^spec\.events\[\d+\]\.event\./, '')
    .replace(/^spec\.events\[\d+\]\.aggregationProperty/, 'valueProperty');
}
