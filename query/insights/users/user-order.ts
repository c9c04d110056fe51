// SQL for the order of a user's events, as one number: the engine finds the least of numbers, but not of tuples, without
// making an object of each.

/** Over occur_time and event_id: the milliseconds, then the id as a number. */
export const eventOrderNumberSql =
  'bitShiftLeft(toUInt256(toUnixTimestamp64Milli(occur_time)), 128) + toUInt256(toUInt128(event_id))';

/** The columns of the groups as one value, and back from the column `groups`. */
export function groupsTupleSql(names: readonly string[]): string {
  return `tuple(${names.join(', ')})`;
}

/** Columns of the groups from the tuple `groups`, each with a comma behind it. */
export function groupColumnsSql(names: readonly string[]): string {
  return names.map((name, index) => `groups.${index + 1} AS ${name}, `).join('');
}
