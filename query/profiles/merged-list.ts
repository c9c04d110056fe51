// The ids that were merged into a profile, as Get and GetByExternalId show them: what UnmergeProfile can take back.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { type MergedId, MergedIdSchema } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { idBytesSql, mergedSql } from '../identity/identity-sql.ts';
import { readRows } from '../read-rows.ts';
import { fewRows, type StoredProfile } from './stored-profile.ts';

const maxMerged = 100;
/** A hundred of the longest ids. */
const maxCharacters = 1_048_576;

/** The latest merges first. An anonymous profile owns no other id, so it costs no statement. */
export async function readMergedList(
  clickhouse: RowReader,
  projectId: string,
  { id, externalId }: Pick<StoredProfile, 'id' | 'externalId'>,
  deadline: Deadline,
): Promise<MergedId[]> {
  if (externalId === '') return [];
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const root = idBytesSql(bindings.bind('String', id));
  const sql = `SELECT distinct_id, toUnixTimestamp64Milli(merge_time) FROM profiles FINAL
    WHERE project_id = ${project} AND edge AND root_id = ${root}
      AND profile_id IN (SELECT profile_id ${mergedSql(project, root)})
    ORDER BY merge_time DESC, distinct_id LIMIT ${maxMerged} ${fewRows}`;
  const result = await readRows(
    clickhouse,
    { sql, params: bindings.params },
    { deadline, maxRows: maxMerged, maxCharacters },
  );
  const rows = result.kind === 'rows' ? result.rows : [];
  return rows.map(([distinctId, mergeTimeMs]) =>
    create(MergedIdSchema, {
      distinctId: String(distinctId),
      mergeTime: timestampFromMs(Number(mergeTimeMs)),
    }),
  );
}
