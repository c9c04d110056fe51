// Reads what a kept export is asked for. Everything that selects rows means the same as in GET /export, and the whole
// question is checked before anything of it is kept.

import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import {
  ExportColumns,
  ExportCompression,
  ExportFormat,
  type ExportQuery,
  ExportQuerySchema,
  ExportWhat,
} from '../../proto/gen/shared/exports/v1/exports_pb.js';
import { readTimeRange } from '../activity/activity-selection.ts';
import { exportFormats, type FormatName } from '../export/export-format.ts';
import type { ExportAsked } from '../export/export-request.ts';
import { statementOf } from '../export/export-select.ts';
import { fieldsBelow } from '../filters/segment-filter.ts';
import type { ListedSegments } from '../insights/segments/listed-persons.ts';

/** As JSON: a project's records are kept in memory. */
const maxQueryBytes = 24_576;

const whats: ReadonlyMap<ExportWhat, ExportAsked['what']> = new Map([
  [ExportWhat.EVENTS, 'events'],
  [ExportWhat.PROFILES, 'profiles'],
  [ExportWhat.ACTIVITY, 'activity'],
]);
const formats: ReadonlyMap<ExportFormat, FormatName> = new Map([
  [ExportFormat.PARQUET, 'parquet'],
  [ExportFormat.ARROW, 'arrow'],
  [ExportFormat.NDJSON, 'ndjson'],
  [ExportFormat.CSV, 'csv'],
]);
const compressions: ReadonlyMap<ExportCompression, string> = new Map([
  [ExportCompression.NONE, 'none'],
  [ExportCompression.GZIP, 'gzip'],
  [ExportCompression.ZSTD, 'zstd'],
  [ExportCompression.LZ4, 'lz4'],
  [ExportCompression.SNAPPY, 'snappy'],
]);

/** Looks segments up as they are now. Throws invalid_argument. */
export type ReadSegments = (projectId: string, query: ExportQuery) => Promise<ListedSegments>;

/** The fields of a question that name segments. */
export const segmentFields = fieldsBelow('query.');

/** The form in which a record has the question. Throws invalid_argument that names the field and its rule. */
export async function checkQuery(
  projectId: string,
  query: ExportQuery | undefined,
  readSegments: ReadSegments,
): Promise<JsonValue> {
  if (query === undefined) throw invalidArgument('query', 'is required');
  const json = toJson(ExportQuerySchema, query);
  if (Buffer.byteLength(JSON.stringify(json)) > maxQueryBytes) {
    throw invalidArgument('query', `takes at most ${maxQueryBytes} bytes as JSON`);
  }
  const listed = await readSegments(projectId, query);
  try {
    statementOf(projectId, { ...askedOf(query), listed }, undefined);
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code !== Code.InvalidArgument) throw error;
    throw new ConnectError(`query.${error.rawMessage}`, Code.InvalidArgument);
  }
  return json;
}

/** The question of a record, whose fields that this version does not know are left out. */
export function queryOf(json: JsonValue): ExportQuery {
  return fromJson(ExportQuerySchema, json, { ignoreUnknownFields: true });
}

/** Throws invalid_argument that names the field and its rule. */
export function askedOf(query: ExportQuery): ExportAsked {
  const what = whats.get(query.what);
  if (what === undefined) throw invalidArgument('what', 'is required');
  const format = formats.get(query.format);
  if (format === undefined) throw invalidArgument('format', 'is required');
  const { kinds, distinctId, profileId, sessionId, segments, notInSegments } = query;
  for (const [name, value] of Object.entries({ kinds, distinctId, profileId, sessionId })) {
    if (what !== 'events' && value.length > 0) throw invalidArgument(name, 'is for events');
  }
  if (what === 'activity' && query.columns === ExportColumns.FLAT) {
    throw invalidArgument('columns', 'FLAT is for events and profiles');
  }
  const known: readonly string[] = exportFormats[format].compressions;
  const compression = compressions.get(query.compression) ?? known[0] ?? '';
  if (!known.includes(compression)) {
    throw invalidArgument('compression', `must be one of ${known.join(', ').toUpperCase()}`);
  }
  return {
    ...{ what, format, compression },
    ...readTimeRange(query.timeRange),
    filters: query.filters,
    ...{ kinds, distinctId, profileId, sessionId },
    columns: query.columns === ExportColumns.FLAT ? 'flat' : 'maps',
    filter: { segments, notInSegments },
  };
}
