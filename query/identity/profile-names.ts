// What users are called by their traits or by the site, and which of them are deleted, for reads that lead to profiles.

import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { maxReadRows, readRows } from '../read-rows.ts';
import { idBytesSql } from './identity-sql.ts';

/** Of maxReadRows names, each letter of them escaped. */
const maxRowsCharacters = 2_097_152;
const maxNameLetters = 200;

/**
 * A part is unpacked from granule to granule, 10 MB of traits each: by default a statement would hold those of all ids
 * at once.
 */
const rowsAtOnce = 64;

/** SQL for the first trait that names a user, else `externalId`; '' where there is neither. */
export function nameSql(externalId: string): string {
  const traits = ['name', 'displayName', 'display_name', 'email'].map(
    (trait) => `if(startsWith(traits['${trait}'], '"'), JSONExtractString(traits['${trait}']), '')`,
  );
  return `arrayFirst(name -> name != '', [${traits.join(', ')}, ${externalId}])`;
}

interface StoredName {
  deleted: boolean;
  /** At most maxNameLetters code points; empty where nobody has named the user. */
  name: string;
}

/**
 * Those that are named or deleted; none is named where the engine lacks the memory for their traits. Takes at most
 * maxReadRows ids, each its own root.
 */
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
  const read = (name: string) =>
    readRows(
      clickhouse,
      {
        // All versions of a row have its id: traits are read where a row has one of these alone.
        sql: `SELECT lower(hex(profile_id)), deleted, ${name} FROM profiles FINAL
          PREWHERE profile_id IN (SELECT ${idBytesSql('id')} FROM (SELECT arrayJoin(${list}) AS id))
          WHERE project_id = ${project} AND NOT edge SETTINGS max_block_size = ${rowsAtOnce}`,
        params: bindings.params,
      },
      { deadline, maxRows: maxReadRows, maxCharacters: maxRowsCharacters },
    );
  const named = await read(`leftUTF8(${nameSql("if(named, distinct_id, '')")}, ${maxNameLetters})`);
  const result = named.kind === 'too-large' ? await read("''") : named;
  if (result.kind === 'too-large') throw new Error('the deleted ids are too many to read');
  return new Map(
    result.rows.map(([id, deleted, name]) => [
      String(id),
      { deleted: deleted === true, name: String(name) },
    ]),
  );
}
