// What a statement's rows depend on: a text that is another one once an event was stored in the time that the statement
// reads, or a profile, trait, merge or deletion of the project. Reading it costs one small statement, which also tells
// what planning would like to know: most of what a look takes does not depend on what it looks for.

import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import type { Deadline } from '../../deadline.ts';
import { readRows } from '../../read-rows.ts';
import type { Range } from '../read/plan-notes.ts';
import {
  changesPart,
  type Facts,
  factsIn,
  maxTypesCharacters,
  noFacts,
  typesSql,
} from '../read/property-types.ts';
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
  /** Of the properties whose types were asked for. */
  facts: Facts;
}

// A later change adds an event or a change, so both sums only grow.
const versionSql = `SELECT 'events' AS part, toString(sum(events)) AS name, emptyArrayString() AS found FROM event_counts
  WHERE project_id = {project:String} AND quarter >= toDateTime({from:UInt32}, 'UTC') AND quarter < toDateTime({to:UInt32}, 'UTC')
  UNION ALL SELECT '${changesPart}', toString(sum(changes)), [toString(max(newest_version)), toString(sum(deletions))]
  FROM project_changes WHERE project_id = {project:String}`;

/** The nearest second that a DateTime can be, since the epoch. */
export function dateTimeSeconds(seconds: number): number {
  return Math.min(Math.max(0, seconds), maxSeconds);
}

/** Throws as readRows does. */
export async function readStoredVersion(
  clickhouse: RowReader,
  projectId: string,
  range: Range,
  deadline: Pick<Deadline, 'signal'>,
  properties: readonly string[] = [],
): Promise<StoredVersion> {
  const { fromMs, toMs } = range;
  const fromQuarter = Math.floor(fromMs / 1_000 / quarterSeconds) * quarterSeconds;
  const params = {
    project: projectId,
    from: dateTimeSeconds(fromQuarter),
    to: dateTimeSeconds(Math.ceil(toMs / 1_000)),
  };
  const statement =
    properties.length === 0
      ? { sql: versionSql, params }
      : { sql: `${versionSql} UNION ALL ${typesSql}`, params: { ...params, properties } };
  const bounds = { deadline, maxRows: 1_000, maxCharacters: maxTypesCharacters };
  const read = await readRows(clickhouse, statement, bounds);
  if (read.kind === 'too-large' || read.stopped) {
    if (properties.length === 0) throw new Error('the engine has no memory for a sum');
    return { ...(await readStoredVersion(clickhouse, projectId, range, deadline)), facts: noFacts };
  }
  const sums = read.rows.filter(([part]) => part === 'events' || part === changesPart);
  return {
    version: JSON.stringify([
      params.from,
      params.to,
      ...sums.toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    ]),
    events: sums.reduce((sum, [part, n]) => (part === 'events' ? sum + Number(n) : sum), 0),
    facts: factsIn(read.rows, properties),
  };
}
