// A number beside that of the period before, as tables have them.

import { change } from '../../../platform/words/figures.ts';
import { groupName } from '../names.ts';
import type { Shown } from '../shown.ts';

type Group = Parameters<typeof groupName>[1];

/** The columns of a number; of itself alone where nothing is compared. */
export function columnsOf(name: string, isCompared: boolean): string[] {
  return isCompared ? [name, `${name} before`, `${name}, change`] : [name];
}

/** What stands in them; `before` is undefined where nothing is compared. */
export function withBefore(value: number, before: number | undefined): (number | string)[] {
  return before === undefined ? [value] : [value, before, change(value, before) ?? ''];
}

/** The group of the period before that has the same values. */
export function sameGroup<One extends Group>(
  spec: Shown<unknown>['spec'],
  groups: readonly One[],
  group: Group,
): One | undefined {
  const name = groupName(spec, group);
  return groups.find((one) => groupName(spec, one) === name);
}
