// A segment's condition as the builder changes it: groups of tests.

import { create } from '@bufbuild/protobuf';
import { LogicalOperator } from '../../proto/gen/common/v1/filter_pb.js';
import {
  type Condition,
  type ConditionGroup,
  ConditionGroupSchema,
  ConditionSchema,
  type ProfileTest,
  ProfileTestSchema,
} from '../../proto/gen/dashboard/segments/v1/segments_pb.js';

/** As the service has them. */
const maxGroups = 10;
const maxTests = 20;

/** How the tests of a group combine. */
export type Match = 'all' | 'any' | 'none' | 'not all';

const { AND, OR } = LogicalOperator;

const combined: Record<Match, Pick<ConditionGroup, 'operator' | 'negated'>> = {
  all: { operator: AND, negated: false },
  any: { operator: OR, negated: false },
  none: { operator: OR, negated: true },
  'not all': { operator: AND, negated: true },
};

export function matchOf({ operator, negated }: ConditionGroup): Match {
  if (operator === OR) return negated ? 'none' : 'any';
  return negated ? 'not all' : 'all';
}

export function withMatch(group: ConditionGroup, match: Match): ConditionGroup {
  return { ...group, ...combined[match] };
}

export function groupOf(tests: ProfileTest[] = [], match: Match = 'all'): ConditionGroup {
  return create(ConditionGroupSchema, { tests, ...combined[match] });
}

export function conditionOf(groups: ConditionGroup[], isAny = false): Condition {
  return create(ConditionSchema, { groups, operator: isAny ? OR : AND });
}

export function testOf(test: ProfileTest['test'], negated = false): ProfileTest {
  return create(ProfileTestSchema, { test, negated });
}

/** Whether another test fits into the whole condition. */
export function mayAddTest({ groups }: Condition): boolean {
  return groups.flatMap(({ tests }) => tests).length < maxTests;
}

/** Another group is for another test; one that is empty comes first. */
export function mayAddGroup(condition: Condition): boolean {
  const { groups } = condition;
  const isFull = groups.every(({ tests }) => tests.length > 0);
  return isFull && groups.length < maxGroups && mayAddTest(condition);
}

/** Without the values of traits that nobody filled in. */
export function withoutGaps({ groups, operator }: Condition): Condition {
  const filled = groups.map((group) => ({ ...group, tests: group.tests.map(withValues) }));
  return create(ConditionSchema, { groups: filled, operator });
}

function withValues(one: ProfileTest): ProfileTest {
  const { test } = one;
  if (test.case !== 'trait') return one;
  const value = { ...test.value, values: test.value.values.filter((text) => text !== '') };
  return { ...one, test: { case: 'trait', value } };
}
