// Finds the deleted ones among profile ids, for reads that lead to profiles. Merges are merged-ids.ts's.

import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { maxReadRows, readRows } from '../read-rows.ts';
import { idBytesSql } from './identity-sql.ts';

const maxRowsCharacters = 1_048_576;

/** Takes at most maxReadRows ids, each its own root. */
export async function deletedIds(
  clickhouse: RowReader,
  projectId: string,
  ids: readonly string[],
  deadline: Deadline,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const list = bindings.bind('Array(String)', ids);
  const sql = `SELECT lower(hex(profile_id)) FROM profiles FINAL
    WHERE project_id = ${project} AND NOT edge AND deleted
      AND profile_id IN (SELECT ${idBytesSql('id')} FROM (SELECT arrayJoin(${list}) AS id))`;
  const result = await readRows(
    clickhouse,
    { sql, params: bindings.params },
    { deadline, maxRows: maxReadRows, maxCharacters: maxRowsCharacters },
  );
  if (result.kind === 'too-large') throw new Error('the deleted ids are too many to read');
  return new Set(result.rows.map(([id]) => String(id)));
}
