// Whether a project has events of bots, and of cookieless visitors: pickers, boards and goals ask the same statements.

import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Deadline } from '../deadline.ts';
import { readRows } from '../read-rows.ts';

/** Set on the events of programs, and on no other. */
export const botProperty = '$bot';

/** Throws the client's errors. */
export function hasBots(
  clickhouse: RowReader,
  projectId: string,
  deadline: Deadline,
): Promise<boolean> {
  const where = `property_keys WHERE project_id = {project:String} AND property = '${botProperty}'`;
  return hasRow(clickhouse, where, projectId, deadline);
}

/** Sums of events know it, and the first that does is enough. Throws the client's errors. */
export function hasCookieless(
  clickhouse: RowReader,
  projectId: string,
  deadline: Deadline,
): Promise<boolean> {
  const where = 'event_counts WHERE project_id = {project:String} AND cookieless_events > 0';
  return hasRow(clickhouse, where, projectId, deadline);
}

async function hasRow(
  clickhouse: RowReader,
  where: string,
  project: string,
  deadline: Deadline,
): Promise<boolean> {
  const statement = { sql: `SELECT 1 FROM ${where} LIMIT 1`, params: { project } };
  const bounds = { deadline, maxRows: 1, maxCharacters: 1_024 };
  const result = await readRows(clickhouse, statement, bounds);
  return result.kind === 'rows' && result.rows.length > 0;
}
