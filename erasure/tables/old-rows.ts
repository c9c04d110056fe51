// Conditions on the rows of projects that are older than these keep them.

import { dayMs, utcDateOf } from '../../platform/clock.ts';
import type { RetainedProject, RetainedWork } from '../../platform/erasure/retained-work.ts';
import { projectsSql, storedSql } from './person-rows.ts';

type Old = Pick<RetainedWork, 'projects' | 'stored'>;

/** Of `events`: those that were stored when the work began. They are the same until the last step deletes them. */
export function oldEventsSql({ projects, stored }: Old): string {
  return `${olderSql(projects, 'occur_time')} AND ${storedSql(stored)}`;
}

/** Of `events`: those that stay. */
export function youngEventsSql(projects: readonly RetainedProject[]): string {
  return ofEachSql(projects, (beforeMs) => `occur_time >= ${momentSql(beforeMs)}`);
}

/** The tables whose rows go by their own time, and which rows. A day of UTC is the boundary, so none is divided. */
export function oldRowsOf({ projects }: Pick<Old, 'projects'>): { table: string; rows: string }[] {
  const isOfDay = (beforeMs: number) => `day < toDate('${utcDateOf(beforeMs / dayMs)}')`;
  return [
    { table: 'event_counts', rows: olderSql(projects, 'quarter') },
    ...['profile_days', 'visits', 'visit_entries'].map((table) => ({
      table,
      rows: ofEachSql(projects, isOfDay),
    })),
    { table: 'dead_letters', rows: olderSql(projects, 'time') },
  ];
}

/** Of the log of webhooks, whose payloads have events. */
export function oldAttemptsSql({ projects }: Pick<Old, 'projects'>): string {
  return olderSql(projects, 'attempt_time');
}

function olderSql(projects: readonly RetainedProject[], column: string): string {
  return ofEachSql(projects, (beforeMs) => `${column} < ${momentSql(beforeMs)}`);
}

/** Projects with the same boundary have one condition. */
function ofEachSql(
  projects: readonly RetainedProject[],
  condition: (beforeMs: number) => string,
): string {
  const idsByBoundary = new Map<number, string[]>();
  for (const { projectId, beforeMs } of projects) {
    idsByBoundary.set(beforeMs, [...(idsByBoundary.get(beforeMs) ?? []), projectId]);
  }
  const each = [...idsByBoundary].map(
    ([beforeMs, ids]) => `(${projectsSql(ids)} AND ${condition(beforeMs)})`,
  );
  return `(${each.join(' OR ')})`;
}

function momentSql(ms: number): string {
  return `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`;
}
