// Finds events among stored rows that neither the seen-set nor event_ids has yet, in the table events itself. It scans
// the ids of these rows once, whatever the number of events.

import type { ClickHouseClient } from '@clickhouse/client';
import { type IdentifiedRows, idDigits, readTexts, windowRows } from './event-ids.ts';

/** Rows of a shard by their time of receipt. */
export interface UnloadedRows {
  shard: number;
  fromMs: number;
  toMs: number;
}

const selectIds = (ids: string, count: number): string => `
  SELECT project_id, replaceAll(toString(event_id), '-', '') FROM events
  PREWHERE event_id IN (
    SELECT reinterpretAsUUID(substring(unhex('${ids}'), 16 * number + 1, 16)) FROM numbers(${count}))
  WHERE ${windowRows}`;

/** Those of `rows` whose event is among the unloaded rows, in any order. Throws the client's errors. */
export async function findUnloaded(
  clickhouse: Pick<ClickHouseClient, 'query'>,
  unloaded: UnloadedRows,
  ids: IdentifiedRows,
  rows: readonly number[],
): Promise<number[]> {
  const rowOf = new Map<string, number>();
  for (const row of rows) rowOf.set(nameOf(ids, row), row);
  const query = selectIds(idDigits(ids, rows), rows.length);
  const names = await readTexts(clickhouse, query, { ...unloaded });
  // Another project may have an event with the same id.
  return names.flatMap(([project, id]) => rowOf.get(`${id} ${project}`) ?? []);
}

function nameOf({ eventIds, projectOf, projects }: IdentifiedRows, row: number): string {
  const id = Buffer.from(eventIds.buffer, eventIds.byteOffset + 16 * row, 16).toString('hex');
  return `${id} ${projects[projectOf[row] ?? 0]}`;
}
