// Reads sessions from the table events for sessions.ts: at the start the sessions that may still go on, later the
// sessions of some visitors. Only rows of finished batches count: a pending batch is assigned its sessions again.

import type { ClickHouseClient } from '@clickhouse/client';
import { hourMs } from '../../platform/clock.ts';
import { splitVisitorKey, visitorKey } from '../build/visitor-key.ts';
import { inRangesSql, type SequenceRange } from '../write/sequence-ranges.ts';
import type { LookUp } from './look-ups.ts';
import type { StoredSession } from './session-memory.ts';

/** The rows that count: all of earlier streams, and those of this stream up to sequence `hwm`, or of `ahead`. */
export interface StoredRows {
  shard: number;
  hwm: number;
  ahead: readonly SequenceRange[];
  streamCreatedMs: number;
}

/** Visitors in one statement, as text, and room for the statement: each may read all rows of their projects' days. */
const maxListCharacters = 4 * 1_048_576;
const maxStatementBytes = 8 * 1_048_576;
/** Parameters travel in the URL; with more projects than this, sessions are looked up by time and id alone. */
const maxNamedProjects = 100;

const derivedRows = ({ ahead }: StoredRows): string => `
  session_derived AND shard = {shard:UInt16}
  AND (stream_seq <= {hwm:UInt64} OR receive_time < fromUnixTimestamp64Milli({createdMs:Int64})
    ${ahead.length > 0 ? `OR ${inRangesSql('stream_seq', ahead)}` : ''})
  AND occur_time >= fromUnixTimestamp64Milli({fromMs:Int64})`;

const sessionFields = `
  project_id, toString(session_id) AS id, groupUniqArray(distinct_id) AS visitors,
  toUnixTimestamp64Milli(min(occur_time)) AS first_ms, toUnixTimestamp64Milli(max(occur_time)) AS last_ms`;

const selectLatest = (rows: StoredRows): string => `
  SELECT ${sessionFields} FROM events WHERE ${derivedRows(rows)}
  GROUP BY project_id, session_id ORDER BY last_ms DESC LIMIT {most:UInt32}`;

// The keys find the rows by the table's order: without them it reads every row of the projects' days. Without the hours
// the answer could be all sessions that the visitors ever had.
const selectOf = (visitors: string, rows: StoredRows): string => `
  WITH asked AS (
    SELECT unhex(name[1]) AS project, unhex(name[2]) AS id, toInt64(arrayJoin(splitByChar(',', name[3]))) AS hour,
      reinterpretAsUInt64(substring(millraceProfileHash(project, id), 1, 8)) AS key
    FROM (SELECT splitByChar(':', arrayJoin(splitByChar(' ', '${visitors}'))) AS name))
  SELECT ${sessionFields} FROM events
  PREWHERE profile_key IN (SELECT key FROM asked)
    AND (profile_key, intDiv(toUnixTimestamp64Milli(occur_time), ${hourMs})) IN (SELECT key, hour FROM asked)
  WHERE ${derivedRows(rows)}
    AND occur_time <= fromUnixTimestamp64Milli({toMs:Int64})
    AND (empty({projects:Array(String)}) OR project_id IN {projects:Array(String)})
    AND (project_id, distinct_id) IN (SELECT project, id FROM asked)
  GROUP BY project_id, session_id`;

/**
 * The latest `most` sessions with rows at or after `fromMs`, and the time from which on no session is missing. Throws
 * the client's errors.
 */
export async function loadSessions(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  rows: StoredRows,
  fromMs: number,
  most: number,
): Promise<{ sessions: StoredSession[]; completeFromMs: number }> {
  const params = { ...paramsOf(rows, fromMs), most };
  const sessions = await read(clickhouse, selectLatest(rows), params);
  // Further sessions may have ended in the same millisecond as the last one that was read.
  const completeFromMs = sessions.length < most ? fromMs : (sessions.at(-1)?.lastMs ?? fromMs) + 1;
  return { sessions, completeFromMs };
}

/** The sessions that a look-up asks for, as its hours show them. Throws the client's errors. */
export async function findSessions(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  rows: StoredRows,
  { hours, fromMs, toMs }: LookUp,
): Promise<StoredSession[]> {
  const projects = [...hours.keys()].map((visitor) => splitVisitorKey(visitor).projectId);
  const named = [...new Set(projects)];
  const params = {
    ...paramsOf(rows, fromMs),
    toMs,
    projects: named.length <= maxNamedProjects ? named : [],
  };
  const found: StoredSession[][] = [];
  for (const list of listsOf(hours))
    found.push(await read(clickhouse, selectOf(list, rows), params));
  return found.flat();
}

function paramsOf(rows: StoredRows, fromMs: number): Record<string, number> {
  return { shard: rows.shard, hwm: rows.hwm, createdMs: rows.streamCreatedMs, fromMs };
}

/** Lists of visitors in hex with their hours, for one statement each: no character of an id gets into a statement. */
function listsOf(hours: LookUp['hours']): string[] {
  const lists: string[] = [];
  let items: string[] = [];
  let characters = 0;
  for (const [visitor, asked] of hours) {
    const { projectId, distinctId } = splitVisitorKey(visitor);
    const item = `${hexOf(projectId)}:${hexOf(distinctId)}:${[...asked].join()}`;
    if (characters + item.length > maxListCharacters && items.length > 0) {
      lists.push(items.join(' '));
      items = [];
      characters = 0;
    }
    items.push(item);
    characters += item.length + 1;
  }
  return [...lists, items.join(' ')];
}

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex');
}

type SessionRow = [
  projectId: string,
  id: string,
  distinctIds: string[],
  firstMs: string,
  lastMs: string,
];

async function read(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  query: string,
  params: Record<string, unknown>,
): Promise<StoredSession[]> {
  const result = await clickhouse.query({
    query,
    format: 'JSONCompactEachRow',
    query_params: params,
    clickhouse_settings: { max_query_size: String(maxStatementBytes) },
  });
  const rows = await result.json<SessionRow>();
  return rows.map(([projectId, id, distinctIds, firstMs, lastMs]) => ({
    id,
    firstMs: Number(firstMs),
    lastMs: Number(lastMs),
    visitors: distinctIds.map((distinctId) => visitorKey(projectId, distinctId)),
  }));
}
