// SQL that carries the groups of an event as one value, so that they follow the first event of a user together.

import { areOfPersons, groupColumn } from '../../sql/read-events.ts';

/** Over a user's events: the groups of the first one that meets `condition`, as one value, to be named `groups`. */
export function firstGroupsSql(
  groups: readonly string[],
  order: string,
  condition = 'true',
): string {
  const values = `tuple(${groups.map((_, index) => groupColumn(index)).join(', ')})`;
  if (areOfPersons(groups)) return `any(${values})`;
  return condition === 'true'
    ? `argMin(${values}, ${order})`
    : `argMinIf(${values}, ${order}, ${condition})`;
}

/** The columns of the groups from the column `groups`, each with a comma behind it. */
export function groupColumnsSql(names: readonly string[]): string {
  return names.map((name, index) => `groups.${index + 1} AS ${name}, `).join('');
}
