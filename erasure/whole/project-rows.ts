// The rows of whole projects, in every table that names a project: the store's own catalogue says which these are, so
// that a new table is not forgotten. An organization has rows in the log of webhooks besides.

import type { ErasureParts, StepContext, StepEnd } from '../erasure-parts.ts';
import { remove } from '../steps/cut.ts';
import { settleTables } from '../steps/settle.ts';
import { projectsSql } from '../tables/person-rows.ts';
import { selectRows } from '../tables/select-rows.ts';

type Store = StepContext['store'];
type Requests = Pick<StepContext, 'requests'>;

/** Each column that names a whole, and the ids of it that are deleted. */
function namesOf(context: Requests): [column: string, ids: readonly string[]][] {
  const names: [string, readonly string[]][] = [
    ['project_id', projectsOf(context)],
    ['organization_id', organizationsOf(context)],
  ];
  return names.filter(([, ids]) => ids.length > 0);
}

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
  for (const store of storesOf(parts, context)) {
    for (const [column, ids] of namesOf(context)) {
      const rows = rowsSql(column, ids);
      for (const table of await tablesWith(store, column)) await remove(store, table, rows);
    }
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
  const names = new Set<string>();
  for (const store of storesOf(parts, context)) {
    for (const [column] of namesOf(context)) {
      for (const table of await tablesWith(store, column)) names.add(table);
    }
  }
  return names.size === 0 ? 'done' : settleTables(parts, context.store, [...names]);
}

/** By table. */
export async function countRows(
  parts: ErasureParts,
  context: StepContext,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const store of storesOf(parts, context)) {
    for (const [column, ids] of namesOf(context)) {
      for (const table of await tablesWith(store, column)) {
        const sql = `SELECT count() FROM ${table} WHERE ${rowsSql(column, ids)}`;
        const [[count] = []] = await selectRows(store, sql);
        counts.set(table, (counts.get(table) ?? 0) + Number(count));
      }
    }
  }
  return counts;
}

/** The group of the projects, and the first one, which has the log of webhooks. */
function storesOf({ clickhouse }: ErasureParts, { store }: StepContext): Set<Store> {
  return new Set([store, clickhouse.first]);
}

async function tablesWith(store: Store, column: string): Promise<string[]> {
  const found = await selectRows(
    store,
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name IN (
      SELECT table FROM system.columns WHERE database = currentDatabase() AND name = {column:String}) ORDER BY name`,
    { column },
  );
  return found.map(([name]) => String(name));
}

function rowsSql(column: string, ids: readonly string[]): string {
  return column === 'project_id'
    ? projectsSql(ids)
    : projectsSql(ids).replace('project_id', column);
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
  const database = `sql_${projectId}`;
  const found = await selectRows(
    store,
    'SELECT DISTINCT database FROM system.tables WHERE database = {database:String}',
    { database },
  );
  if (found.length === 0) return;
  projectsSql([projectId]);
  await store.command({ query: `DROP DATABASE IF EXISTS \`${database}\`` });
}
