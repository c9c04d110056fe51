// Finds the roots of merged profile ids, for reads that answer the profile ids of events. Unlike identity-sql.ts, it
// runs a statement.

import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { maxReadRows, readRows } from '../read-rows.ts';
import { idBytesSql } from './identity-sql.ts';

const maxRowsCharacters = 1_048_576;

/** Maps each merged id to its root; ids that are their own root are left out. Takes at most maxReadRows ids. */
export async function mergedIds(
  clickhouse: RowReader,
  projectId: string,
  ids: readonly string[],
  deadline: Deadline,
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const list = bindings.bind('Array(String)', ids);
  const sql = `SELECT lower(hex(profile_id)), lower(hex(root_id)) FROM profiles FINAL
    WHERE project_id = ${project} AND edge AND root != ''
      AND profile_id IN (SELECT ${idBytesSql('id')} FROM (SELECT arrayJoin(${list}) AS id))`;
  const result = await readRows(
    clickhouse,
    { sql, params: bindings.params },
    { deadline, maxRows: maxReadRows, maxCharacters: maxRowsCharacters },
  );
  if (result.kind === 'too-large') throw new Error('the merged ids are too many to read');
  return new Map(result.rows.map(([id, root]) => [String(id), String(root)]));
}
