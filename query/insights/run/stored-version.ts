// What a statement's rows depend on: a text that is another one once an event was stored in the time that the statement
// reads, or a profile, trait, merge or deletion of the project. Reading it costs one small statement.

import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import type { Deadline } from '../../deadline.ts';
import { readRows } from '../../read-rows.ts';
import type { Range } from '../read/plan-notes.ts';
import { quarterMs } from '../read/time-buckets.ts';

const quarterSeconds = quarterMs / 1_000;
/** The last second of a DateTime. */
const maxSeconds = 2 ** 32 - 1;

/** The time of all the events that a statement reads, as its readers have noted. */
export function rangeOfReads(reads: readonly Range[]): Range {
  if (reads.length === 0) throw new Error('the statement of a question reads nothing');
  return {
    fromMs: Math.min(...reads.map(({ fromMs }) => fromMs)),
    toMs: Math.max(...reads.map(({ toMs }) => toMs)),
  };
}

export interface StoredVersion {
  version: string;
  /** Of the range, in whole quarters of an hour. */
  events: number;
}

// A later change adds an event or a change, so both sums only grow.
const sql = `SELECT 'events' AS part, sum(events) AS count, toUInt64(0) AS newest FROM event_counts
  WHERE project_id = {project:String} AND quarter >= toDateTime({from:UInt32}, 'UTC') AND quarter < toDateTime({to:UInt32}, 'UTC')
  UNION ALL SELECT 'changes', sum(changes), max(newest_version) FROM project_changes WHERE project_id = {project:String}`;

/** The nearest second that a DateTime can be, since the epoch. */
export function dateTimeSeconds(seconds: number): number {
  return Math.min(Math.max(0, seconds), maxSeconds);
}

/** Throws as readRows does. */
export async function readStoredVersion(
  clickhouse: RowReader,
  projectId: string,
  { fromMs, toMs }: Range,
  deadline: Pick<Deadline, 'signal'>,
): Promise<StoredVersion> {
  const fromQuarter = Math.floor(fromMs / 1_000 / quarterSeconds) * quarterSeconds;
  const params = {
    project: projectId,
    from: dateTimeSeconds(fromQuarter),
    to: dateTimeSeconds(Math.ceil(toMs / 1_000)),
  };
  const bounds = { deadline, maxRows: 2, maxCharacters: 1_000 };
  const read = await readRows(clickhouse, { sql, params }, bounds);
  if (read.kind !== 'rows') throw new Error('the engine has no memory for a sum');
  return {
    version: JSON.stringify([
      params.from,
      params.to,
      ...read.rows.toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    ]),
    events: read.rows.reduce((sum, [part, n]) => (part === 'events' ? sum + Number(n) : sum), 0),
  };
}
