// What users are called by their traits or by the site, and which of them are deleted, for reads that lead to profiles.

import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { maxReadRows, readRows } from '../read-rows.ts';
import { idBytesSql } from './identity-sql.ts';

/** Of as many names as a page has, which are short but may be as long as a trait. */
const maxRowsCharacters = 16_777_216;

/** SQL for the first trait that names a user, else `externalId`; '' where there is neither. */
export function nameSql(externalId: string): string {
  const traits = ['name', 'displayName', 'display_name', 'email'].map(
    (trait) => `if(startsWith(traits['${trait}'], '"'), JSONExtractString(traits['${trait}']), '')`,
  );
  return `arrayFirst(name -> name != '', [${traits.join(', ')}, ${externalId}])`;
}

interface StoredName {
  deleted: boolean;
  /** At most 200 code points; empty where nobody has named the user. */
  name: string;
}

/** Those that are named or deleted. Takes at most maxReadRows ids, each its own root. */
export async function profileNames(
  clickhouse: RowReader,
  projectId: string,
  ids: readonly string[],
  deadline: Deadline,
): Promise<ReadonlyMap<string, StoredName>> {
  if (ids.length === 0) return new Map();
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const list = bindings.bind('Array(String)', ids);
  // All versions of a row have its id: the traits of other rows are not read.
  const sql = `SELECT lower(hex(profile_id)), deleted,
      leftUTF8(${nameSql("if(named, distinct_id, '')")}, 200)
    FROM profiles FINAL
    PREWHERE profile_id IN (SELECT ${idBytesSql('id')} FROM (SELECT arrayJoin(${list}) AS id))
    WHERE project_id = ${project} AND NOT edge`;
  const result = await readRows(
    clickhouse,
    { sql, params: bindings.params },
    { deadline, maxRows: maxReadRows, maxCharacters: maxRowsCharacters },
  );
  if (result.kind === 'too-large') throw new Error('the names of profiles are too many to read');
  return new Map(
    result.rows.map(([id, deleted, name]) => [
      String(id),
      { deleted: deleted === true, name: String(name) },
    ]),
  );
}
