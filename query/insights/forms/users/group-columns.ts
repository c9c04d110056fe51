// SQL that carries the groups of an event as one value, so that they follow the first event of a user together.

import { byPerson, personGroupSql } from '../../sql/persons.ts';
import { areOfPersons, groupColumn } from '../../sql/read-events.ts';

/**
 * Over events that are grouped by their user_key: the groups of the user's first one that meets `condition`, as one
 * value, to be named `groups`.
 */
export function firstGroupsSql(
  groups: readonly string[],
  order: string,
  condition = 'true',
): string {
  const values = `tuple(${groups.map((_, index) => groupColumn(index)).join(', ')})`;
  if (areOfPersons(groups)) {
    const isPerson = groups.every((group) => group === byPerson);
    return isPerson ? `tuple(${personGroupSql})` : `any(${values})`;
  }
  return condition === 'true'
    ? `argMin(${values}, ${order})`
    : `argMinIf(${values}, ${order}, ${condition})`;
}

/** Over rows with such `groups` and their `first_order`: those of the first one. */
export function firstOfGroupsSql(groups: readonly string[], of: string): string {
  return areOfPersons(groups) ? `any(${of}.groups)` : `argMin(${of}.groups, ${of}.first_order)`;
}

/** The columns of the groups from the column `groups`, each with a comma behind it. */
export function groupColumnsSql(names: readonly string[]): string {
  return names.map((name, index) => `groups.${index + 1} AS ${name}, `).join('');
}
