// The types with which properties were ever stored, from the names that the table property_keys keeps: a statement then
// looks for a property where it can be, in one map instead of five and a column. They are read after the moment until
// which the answer is complete: an event is acknowledged once its types are in the table, and one that comes between is
// not claimed to be counted.

import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import type { Deadline } from '../../deadline.ts';
import { createBindings } from '../../filters/bindings.ts';
import { readRows } from '../../read-rows.ts';
import { textsOf } from './rows.ts';

/** `column`: a non-empty text of a property that has a column. The others are the maps. */
export const storedTypes = ['column', 'string', 'int', 'double', 'bool', 'time'] as const;
export type StoredType = (typeof storedTypes)[number];
export type PropertyTypes = ReadonlySet<StoredType>;

/**
 * The types of each name; a name without an entry was never stored. Undefined where the table has not every name of the
 * project.
 */
export async function readPropertyTypes(
  clickhouse: RowReader,
  projectId: string,
  names: readonly string[],
  deadline: Deadline,
): Promise<ReadonlyMap<string, PropertyTypes> | undefined> {
  const bindings = createBindings();
  const sql = `SELECT property, groupUniqArray(type) FROM property_keys
    WHERE project_id = ${bindings.bind('String', projectId)}
      AND (type = 'cut' OR property IN ${bindings.bind('Array(String)', names)})
    GROUP BY property`;
  const bounds = { deadline, maxRows: 1_000, maxCharacters: 1_048_576 };
  const result = await readRows(clickhouse, { sql, params: bindings.params }, bounds);
  if (result.kind === 'too-large' || result.stopped) return undefined;
  const types = new Map<string, Set<StoredType>>(names.map((name) => [name, new Set()]));
  for (const [property, seen] of result.rows) {
    for (const type of textsOf(seen)) {
      const known = storedTypes.find((stored) => stored === type);
      if (known === undefined) return undefined;
      types.get(String(property))?.add(known);
    }
  }
  return types;
}
