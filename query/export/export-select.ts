// The statement of an export and the engine's settings for it: it runs long, so in one thread, behind all questions.

import type { RowReader, Select } from '../../platform/clickhouse/select-rows.ts';
import { hourMs } from '../../platform/clock.ts';
import type { Statement } from '../read-rows.ts';
import { eventsStatement } from './events-sql.ts';
import { formatSettings } from './export-format.ts';
import type { ExportAsked } from './export-request.ts';
import { type FlatNames, readFlatNames } from './flat-columns.ts';
import { activityStatement, profilesStatement } from './profiles-sql.ts';

export const maxExportMs = 2 * hourMs;
/** Of ClickHouse: higher than that of any question, so that questions go first. */
const priority = 30;
/**
 * Of Linux, behind the merges' (sql/engine/engine-arguments.ts): inserts have no priority in ClickHouse, so that the
 * system alone can let them go first where all cores are busy. ClickHouse passes over it without CAP_SYS_NICE.
 */
const niceValue = 12;

/** Throws invalid_argument, and the client's errors. */
export async function selectOf(
  clickhouse: RowReader,
  projectId: string,
  asked: ExportAsked,
  signal: AbortSignal,
): Promise<Select> {
  const flat = await flatNamesOf(clickhouse, projectId, asked, signal);
  return selectWith(statementOf(projectId, asked, flat), asked, signal);
}

/** The names that have a column each; undefined where maps have them all. Throws the client's errors. */
export async function flatNamesOf(
  clickhouse: RowReader,
  projectId: string,
  { what, columns }: ExportAsked,
  signal: AbortSignal,
): Promise<FlatNames | undefined> {
  if (columns !== 'flat' || what === 'activity') return undefined;
  return readFlatNames(clickhouse, projectId, what, { signal });
}

/** Throws invalid_argument. */
export function statementOf(
  projectId: string,
  asked: ExportAsked,
  flat: FlatNames | undefined,
): Statement {
  switch (asked.what) {
    case 'events':
      return eventsStatement(projectId, asked, flat);
    case 'profiles':
      return profilesStatement(projectId, asked, flat);
    case 'activity':
      return activityStatement(projectId, asked);
    default:
      return asked.what satisfies never;
  }
}

export function selectWith(
  { sql, params }: Statement,
  asked: ExportAsked,
  signal: AbortSignal,
): Select {
  return {
    ...{ sql, params, signal },
    settings: {
      max_execution_time: maxExportMs / 1_000,
      max_threads: 1,
      priority,
      os_threads_nice_value_query: niceValue,
      // Blocks of persons may be large: each has up to 64 KiB of traits.
      ...(asked.what === 'profiles' && { max_block_size: 1_024 }),
      // A name may become part of the statement's text at each place that names it.
      max_query_size: String(8 * 1_048_576),
      ...formatSettings(asked),
    },
  };
}
