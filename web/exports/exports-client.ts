// The calls of kept exports, and the words for what was asked and for their states.

import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { plural } from '../../platform/words/figures.ts';
import { kindName } from '../../platform/words/value-words.ts';
import {
  type Export,
  ExportColumns,
  ExportCompression,
  ExportFormat,
  type ExportQuery,
  ExportState,
  ExportsService,
  ExportWhat,
} from '../../proto/gen/shared/exports/v1/exports_pb.js';
import { inProject, transport } from '../client.ts';
import { type Condition, toPropertyFilter } from '../filter/condition.ts';

export const exportsClient = createClient(ExportsService, transport);

export const formats = [
  { value: 'parquet', name: 'Parquet', format: ExportFormat.PARQUET },
  { value: 'csv', name: 'CSV, for spreadsheets', format: ExportFormat.CSV },
  { value: 'ndjson', name: 'JSON lines, gzipped', format: ExportFormat.NDJSON },
  { value: 'arrow', name: 'Arrow', format: ExportFormat.ARROW },
] as const;

export type FormatName = (typeof formats)[number]['value'];

export const whats = [
  { value: 'events', name: 'Events', what: ExportWhat.EVENTS },
  { value: 'profiles', name: 'Users', what: ExportWhat.PROFILES },
  { value: 'activity', name: 'Activity of each user', what: ExportWhat.ACTIVITY },
] as const;

export type WhatName = (typeof whats)[number]['value'];

interface Asked {
  what: WhatName;
  format: FormatName;
  isFlat: boolean;
  /** As the parameters of GET /export; empty ones select nothing. */
  params: Record<string, string>;
  conditions: readonly Condition[];
}

/** Asks for files that are kept for seven days. */
export async function keepExport(projectId: string, asked: Asked): Promise<void> {
  const { params } = asked;
  const format = formats.find(({ value }) => value === asked.format)?.format;
  const isPacked = format === ExportFormat.NDJSON;
  const [from, to] = [asTimestamp(params['from']), asTimestamp(params['to'])];
  const query = {
    ...(format && { format }),
    what: whats.find(({ value }) => value === asked.what)?.what ?? ExportWhat.EVENTS,
    columns: asked.isFlat ? ExportColumns.FLAT : ExportColumns.MAPS,
    compression: isPacked ? ExportCompression.GZIP : ExportCompression.UNSPECIFIED,
    timeRange: { ...(from && { from }), ...(to && { to }) },
    kinds: listOf(params['kinds']),
    segments: listOf(params['segments']),
    notInSegments: listOf(params['not_in_segments']),
    distinctId: params['distinct_id'] ?? '',
    profileId: params['profile_id'] ?? '',
    sessionId: params['session_id'] ?? '',
    filters: asked.conditions.map(toPropertyFilter),
  };
  await exportsClient.create({ query }, inProject(projectId));
}

function listOf(text: string | undefined): string[] {
  return text ? text.split(',') : [];
}

function asTimestamp(text: string | undefined): Timestamp | undefined {
  return text ? timestampFromDate(new Date(text)) : undefined;
}

/** `Events, Parquet, 2 filters` */
export function queryText(query: ExportQuery | undefined): string {
  if (query === undefined) return '';
  const what = whats.find((one) => one.what === query.what)?.name ?? '';
  const format = formats.find((one) => one.format === query.format)?.name ?? '';
  const { kinds, filters, distinctId, profileId, sessionId, segments, notInSegments } = query;
  const segmentCount = segments.length + notInSegments.length;
  const person = distinctId || profileId ? ['one user'] : [];
  return [
    ...[what, format.split(',')[0]],
    ...(kinds.length > 0
      ? [kinds.length > 3 ? plural(kinds.length, 'event name') : kinds.map(kindName).join(', ')]
      : []),
    ...(filters.length > 0 ? [plural(filters.length, 'filter')] : []),
    ...(segmentCount > 0 ? [plural(segmentCount, 'segment')] : []),
    ...person,
    ...(sessionId ? ['one visit'] : []),
  ].join(', ');
}

export function isUnderWay({ state }: Export): boolean {
  return state === ExportState.PENDING || state === ExportState.RUNNING;
}

/** What a person reads of a state, and its tone. */
export function stateWords(state: ExportState): { name: string; tone: string } {
  switch (state) {
    case ExportState.PENDING:
      return { name: 'waiting', tone: '' };
    case ExportState.RUNNING:
      return { name: 'being written', tone: '' };
    case ExportState.READY:
      return { name: 'ready', tone: 'good' };
    case ExportState.FAILED:
      return { name: 'failed', tone: 'bad' };
    case ExportState.CANCELLED:
    case ExportState.UNSPECIFIED:
      return { name: 'cancelled', tone: '' };
    case ExportState.EXPIRED:
      return { name: 'expired', tone: '' };
    default:
      return state satisfies never;
  }
}
