// Conditions on the rows of a project that are older than it keeps them.

import { dayMs, utcDateOf } from '../../platform/clock.ts';
import type { RetainedWork } from '../../platform/erasure/retained-work.ts';
import { projectsSql, storedSql } from './person-rows.ts';

type Old = Pick<RetainedWork, 'projectId' | 'beforeMs' | 'stored'>;

/** Of `events`: those that were stored when the work began. They are the same until the last step deletes them. */
export function oldEventsSql({ projectId, beforeMs, stored }: Old): string {
  return `${projectsSql([projectId])} AND occur_time < ${momentSql(beforeMs)} AND ${storedSql(stored)}`;
}

/** The tables whose rows go by their own time, and which rows. A day of UTC is the boundary, so none is divided. */
export function oldRowsOf({ projectId, beforeMs }: Old): { table: string; rows: string }[] {
  const project = projectsSql([projectId]);
  const date = `toDate('${utcDateOf(beforeMs / dayMs)}')`;
  return [
    { table: 'event_counts', rows: `${project} AND quarter < ${momentSql(beforeMs)}` },
    ...['profile_days', 'visits', 'visit_entries'].map((table) => ({
      table,
      rows: `${project} AND day < ${date}`,
    })),
    { table: 'dead_letters', rows: `${project} AND time < ${momentSql(beforeMs)}` },
  ];
}

/** Of the log of webhooks, whose payloads have events. */
export function oldAttemptsSql({ projectId, beforeMs }: Old): string {
  return `${projectsSql([projectId])} AND attempt_time < ${momentSql(beforeMs)}`;
}

export function momentSql(ms: number): string {
  return `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`;
}
