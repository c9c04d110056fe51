// The manifest of a kept export: what was asked, what its files hold, and how to tell that they came whole.

import { type ExportRecord, sizeOf } from '../../../platform/exports/export-record.ts';
import { fieldOf } from '../../../platform/json.ts';
import type { ExportAsked } from '../../export/export-request.ts';
import type { PartPlan } from '../part-plan.ts';

export const manifestFile = 'manifest.json';

/** JSON with a line end. Moments are RFC 3339 in UTC. */
export function manifestOf(
  record: ExportRecord,
  asked: ExportAsked,
  { schema, listed }: Pick<PartPlan, 'schema' | 'listed'>,
): string {
  const { rows, bytes } = sizeOf(record);
  const moment = (ms: number): string => new Date(ms).toISOString();
  const manifest = {
    id: record.id,
    what: asked.what,
    format: asked.format,
    compression: asked.compression,
    columns: asked.columns,
    from: moment(asked.fromMs),
    to: moment(asked.toMs),
    kinds: asked.kinds,
    filters: fieldOf(record.query, 'filters') ?? [],
    segments: asked.filter?.segments ?? [],
    not_in_segments: asked.filter?.notInSegments ?? [],
    segment_conditions: listed?.conditions ?? {},
    complete_until: record.completeUntilMs === 0 ? null : moment(record.completeUntilMs),
    create_time: moment(record.createMs),
    expire_time: moment(record.expireMs),
    rows,
    bytes,
    parts: record.parts.map(({ name, bytes: size, rows: count, sha256 }) => ({
      ...{ name, bytes: size, rows: count, sha256 },
    })),
    schema,
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}
