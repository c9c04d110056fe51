// The rows of whole projects, in every table that names a project: the store's own catalogue says which these are, so
// that a new table is not forgotten. An organization has rows in the log of webhooks besides.

import type { ErasureParts, StepContext, StepEnd } from '../erasure-parts.ts';
import { remove } from '../steps/cut.ts';
import { settleTables } from '../steps/settle.ts';
import { idsSql, plainId, projectsSql } from '../tables/person-rows.ts';
import { selectRows } from '../tables/select-rows.ts';

type Store = StepContext['store'];
type Requests = Pick<StepContext, 'requests'>;

export function projectsOf({ requests }: Requests): string[] {
  return idsOf(requests, 'project');
}

export function organizationsOf({ requests }: Requests): string[] {
  return idsOf(requests, 'organization');
}

function idsOf(requests: StepContext['requests'], kind: string): string[] {
  return requests.flatMap(({ requestId, whole }) => (whole?.kind === kind ? [requestId] : []));
}

/** Begins the deletions; `settleRows` waits for their end. */
export async function deleteRows(parts: ErasureParts, context: StepContext): Promise<StepEnd> {
  await context.keep({ ...context.batch, events: await eventsOf(context) });
  for (const { store, table, rows } of await placesOf(parts, context)) {
    await remove(store, table, rows);
  }
  for (const store of storesOf(parts, context)) {
    for (const id of projectsOf(context)) {
      // Where the store's user may not, the rows are gone all the same.
      await dropViews(store, id).catch((error: unknown) => {
        parts.log.warn({ err: error }, 'the views of a deleted project stay: they hold no rows');
      });
    }
  }
  return 'done';
}

export async function settleRows(parts: ErasureParts, context: StepContext): Promise<StepEnd> {
  const places = await placesOf(parts, context);
  const names = new Set(places.map(({ table }) => table));
  return names.size === 0 ? 'done' : settleTables(parts, context.store, [...names]);
}

/** By table. */
export async function countRows(
  parts: ErasureParts,
  context: StepContext,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { store, table, rows } of await placesOf(parts, context)) {
    const [[count] = []] = await selectRows(store, `SELECT count() FROM ${table} WHERE ${rows}`);
    counts.set(table, (counts.get(table) ?? 0) + Number(count));
  }
  return counts;
}

interface Place {
  store: Store;
  table: string;
  /** SQL of a condition. */
  rows: string;
}

/** Where rows of what is deleted may be: in each table with a column that names a project, or an organization. */
async function placesOf(parts: ErasureParts, context: StepContext): Promise<Place[]> {
  const named = [
    { column: 'project_id', ids: projectsOf(context) },
    { column: 'organization_id', ids: organizationsOf(context) },
  ] as const;
  const places: Place[] = [];
  for (const store of storesOf(parts, context)) {
    for (const { column, ids } of named) {
      const rows = idsSql(column, ids);
      const tables = ids.length === 0 ? [] : await tablesWith(store, column);
      places.push(...tables.map((table) => ({ store, table, rows })));
    }
  }
  return places;
}

/** The group of the projects, and the first one, which has the log of webhooks. */
function storesOf({ clickhouse }: ErasureParts, { store }: StepContext): Set<Store> {
  return new Set([store, clickhouse.first]);
}

/** Tables that have rows of their own, and such a column. */
export async function tablesWith(store: Store, column: string): Promise<string[]> {
  const found = await selectRows(
    store,
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name IN (
      SELECT table FROM system.columns WHERE database = currentDatabase() AND name = {column:String}) ORDER BY name`,
    { column },
  );
  return found.map(([name]) => String(name));
}

/** What was found before, where the step is taken again: its deletions may have begun. */
async function eventsOf({ batch, requests, store }: StepContext): Promise<Record<string, number>> {
  const ids = projectsOf({ requests });
  if (ids.length === 0) return { ...batch.events };
  const found = await selectRows(
    store,
    `SELECT project_id, count() FROM events WHERE ${projectsSql(ids)} GROUP BY project_id`,
  );
  const counted = new Map(found.map(([id, count]) => [String(id), Number(count)]));
  return Object.fromEntries(
    ids.map((id) => [id, Math.max(batch.events[id] ?? 0, counted.get(id) ?? 0)]),
  );
}

/** The database of views that statements of POST /sql run in: it has no rows, and the project's id in its name. */
async function dropViews(store: Store, projectId: string): Promise<void> {
  const database = `sql_${plainId(projectId)}`;
  const found = await selectRows(
    store,
    'SELECT DISTINCT database FROM system.tables WHERE database = {database:String}',
    { database },
  );
  if (found.length === 0) return;
  await store.command({ query: `DROP DATABASE IF EXISTS \`${database}\`` });
}
