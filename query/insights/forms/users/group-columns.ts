// SQL that carries the groups of an event as one value, so that they follow the first event of a user together.

/** The columns of the groups as one value; its column is to be named `groups`. */
export function groupsTupleSql(names: readonly string[]): string {
  return `tuple(${names.join(', ')})`;
}

/** The columns of the groups from the column `groups`, each with a comma behind it. */
export function groupColumnsSql(names: readonly string[]): string {
  return names.map((name, index) => `groups.${index + 1} AS ${name}, `).join('');
}
