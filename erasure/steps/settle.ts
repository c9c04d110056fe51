// The last steps: the deletions of the cut are waited for, processes forget what they hold of the persons, and a scan
// looks whether rows are left.

import type { ErasureParts, StepContext, StepEnd } from '../erasure-parts.ts';
import { toldRows } from '../tables/late-persons.ts';
import { keysSql, personsOf, profileIdsSql } from '../tables/person-rows.ts';
import { selectRows } from '../tables/select-rows.ts';
import { forgetKept } from './cut.ts';
import { endExports } from './end-exports.ts';

const changedTables = [
  ...['events', 'profile_days', 'profile_activity', 'profile_listing', 'visits', 'visit_entries'],
  ...['profiles', 'profiles_by_creation', 'profiles_by_root', 'kept_days', 'kept_cells'],
  ...['kept_active_profiles', 'dead_letters', 'webhook_attempts', 'event_counts', 'property_keys'],
];

const endedExports = {
  reason: 'a person was erased, whose rows it may have had: ask for it again',
};

/** Throws where the engine cannot do what it was told. */
export async function settle(
  parts: Pick<ErasureParts, 'clickhouse' | 'log'>,
  { store }: Pick<StepContext, 'store'>,
): Promise<StepEnd> {
  return settleTables(parts, store, changedTables);
}

/** Of the tables in the group and in the first one, which has the log of webhooks. */
export async function settleTables(
  parts: Pick<ErasureParts, 'clickhouse' | 'log'>,
  store: StepContext['store'],
  names: readonly string[],
): Promise<StepEnd> {
  const tables = names.map((name) => `'${name}'`).join(', ');
  for (const one of new Set([store, parts.clickhouse.first])) {
    const [[left, why] = []] = await selectRows(
      one,
      `SELECT count(), max(latest_fail_reason) FROM system.mutations
        WHERE database = currentDatabase() AND NOT is_done AND table IN (${tables})`,
    );
    if (Number(left) === 0) continue;
    if (String(why) !== '') parts.log.warn({ why }, 'a deletion of rows is tried again');
    return 'later';
  }
  return 'done';
}

/**
 * The writer of profiles reads what is left from the table; readers keep no day that counts the persons, and no file
 * that has their rows.
 */
export async function forget(
  { profiles, ...parts }: ErasureParts,
  { requests, store, renew }: StepContext,
  signal: AbortSignal,
): Promise<StepEnd> {
  const { projectIds } = personsOf(requests);
  for (const projectId of projectIds) await profiles.change(projectId, { kind: 'forget' }, signal);
  await forgetKept(store, projectIds);
  return endExports(parts, projectIds, { ...endedExports, renew });
}

/**
 * The rows that are left of the persons, by table: those that came after the cut, as a rule none. Rows of
 * `dead_letters` name no person.
 */
export async function rowsLeft(
  { clickhouse }: Pick<ErasureParts, 'clickhouse'>,
  { requests, store }: Pick<StepContext, 'requests' | 'store'>,
): Promise<Map<string, number>> {
  const persons = personsOf(requests);
  const keys = keysSql(persons);
  const ids = profileIdsSql(persons);
  const counts = [
    ...['events', 'profile_days'].map(
      (table) => `SELECT '${table}', count() FROM ${table} WHERE ${keys}`,
    ),
    ...[
      'profile_activity',
      'profile_listing',
      'profiles',
      'profiles_by_creation',
      'profiles_by_root',
    ].map((table) => `SELECT '${table}', count() FROM ${table} WHERE ${ids}`),
  ];
  const rows = await selectRows(store, counts.join(' UNION ALL '));
  const told = await toldRows({ store, log: clickhouse.first }, requests);
  return new Map([
    ...rows.map(([table, count]) => [String(table), Number(count)] as const),
    ['webhook_attempts', told.reduce((sum, [, , , attempts]) => sum + Number(attempts), 0)],
  ]);
}
