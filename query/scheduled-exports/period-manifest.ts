// The manifest of a period: what was asked, what its files hold, and how to tell that they came whole. The period is
// there once its manifest is.

import type { PeriodProgress, ScheduleRecord } from '../../platform/exports/schedule-record.ts';
import { fieldOf, isObject } from '../../platform/json.ts';
import type { ExportAsked } from '../export/export-request.ts';

export const maxManifestBytes = 1_048_576;

/** JSON with a line end: the same text whenever the same progress is written. Moments are RFC 3339 in UTC. */
export function periodManifestOf(
  { id, query, cadence }: ScheduleRecord,
  projectId: string,
  progress: PeriodProgress,
  asked: ExportAsked,
  schema: readonly { name: string; type: string }[],
): string {
  const { parts } = progress;
  const moment = (ms: number): string => new Date(ms).toISOString();
  const manifest = {
    schedule_id: id,
    project_id: projectId,
    ...{ what: asked.what, format: asked.format, compression: asked.compression, cadence },
    from: moment(progress.fromMs),
    to: moment(progress.toMs),
    selected_by: asked.what === 'events' ? 'receive_time' : 'all at create_time',
    kinds: asked.kinds,
    filters: fieldOf(query, 'filters') ?? [],
    segments: asked.filter?.segments ?? [],
    not_in_segments: asked.filter?.notInSegments ?? [],
    complete_until: moment(progress.completeUntilMs),
    create_time: moment(progress.beginMs),
    rows: parts.reduce((sum, { rows }) => sum + rows, 0),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    parts: parts.map(({ name, bytes, rows, sha256 }) => ({ name, bytes, rows, sha256 })),
    schema,
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** A name that a file of ours can have: whoever else may write to the bucket has us delete nothing else. */
const partNamePattern = /^[a-z]+-\d{4,}\.[a-z]+(\.gz)?$/;

/** The names of the files that a manifest names; none where it is no manifest of ours. */
export function partNamesIn(manifest: Buffer): string[] {
  let value: unknown;
  try {
    value = JSON.parse(manifest.toString());
  } catch {
    return [];
  }
  const parts = isObject(value) ? value['parts'] : undefined;
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part) => {
    const name = fieldOf(part, 'name');
    return typeof name === 'string' && partNamePattern.test(name) ? [name] : [];
  });
}
