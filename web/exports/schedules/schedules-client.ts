// The calls of scheduled exports, and the words for what they are and how they fare.

import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import {
  ExportCadence,
  type ExportSchedule,
  ExportScheduleState,
  ExportSchedulesService,
} from '../../../proto/gen/dashboard/exports/v1/export_schedules_pb.js';
import {
  ExportCompression,
  ExportFormat,
} from '../../../proto/gen/shared/exports/v1/exports_pb.js';
import { inProject, transport } from '../../client.ts';
import { type Condition, toPropertyFilter } from '../../filter/condition.ts';
import { momentOfText } from '../../time/zone.ts';
import { type FormatName, formats, type WhatName, whats } from '../exports-client.ts';

export const schedulesClient = createClient(ExportSchedulesService, transport);

export const cadences = [
  { value: 'hourly', name: 'Every hour', cadence: ExportCadence.HOURLY },
  { value: 'daily', name: 'Every day', cadence: ExportCadence.DAILY },
] as const;

export type CadenceName = (typeof cadences)[number]['value'];

export interface AskedSchedule {
  displayName: string;
  what: WhatName;
  format: FormatName;
  cadence: CadenceName;
  /** With commas between them; empty for all. */
  kinds: string;
  segments: string[];
  notInSegments: string[];
  conditions: readonly Condition[];
  /** The first period, as PeriodField has it; empty for the one of now. */
  start: string;
  endpoint: string;
  region: string;
  bucket: string;
  prefix: string;
  pathStyle: boolean;
  accessKeyId: string;
  secretAccessKey: string;
}

/** The bucket is tried: it may take some seconds. */
export async function makeSchedule(projectId: string, asked: AskedSchedule): Promise<void> {
  const format = formats.find(({ value }) => value === asked.format)?.format;
  const what = whats.find(({ value }) => value === asked.what)?.what;
  const cadence = cadences.find(({ value }) => value === asked.cadence)?.cadence;
  const isPacked = format === ExportFormat.NDJSON;
  const kinds = asked.kinds.split(',').map((kind) => kind.trim());
  const { endpoint, region, bucket, prefix, pathStyle, accessKeyId, secretAccessKey } = asked;
  const startTime = periodTime(asked.start);
  await schedulesClient.create(
    {
      displayName: asked.displayName,
      query: {
        ...(what && { what }),
        ...(format && { format }),
        compression: isPacked ? ExportCompression.GZIP : ExportCompression.UNSPECIFIED,
        kinds: asked.what === 'events' ? kinds.filter((kind) => kind !== '') : [],
        ...{ segments: asked.segments, notInSegments: asked.notInSegments },
        filters: asked.conditions.map(toPropertyFilter),
      },
      ...(startTime && { startTime }),
      ...(cadence && { cadence }),
      bucket: { endpoint, region, bucket, prefix, pathStyle, accessKeyId },
      secretAccessKey,
    },
    inProject(projectId),
  );
}

/** A moment within a period, which the service takes for all of it; undefined where the field is empty. */
export function periodTime(text: string): Timestamp | undefined {
  const moment = momentOfText(text.includes('T') ? text : `${text}T00:00`, 'UTC');
  return moment && timestampFromDate(moment);
}

/** What a person reads of how it fares, and its tone. */
export function scheduleWords(one: ExportSchedule): { name: string; tone: string } {
  if (one.state === ExportScheduleState.PAUSED) {
    return { name: 'paused', tone: one.reason === '' ? '' : 'bad' };
  }
  return one.failingSince === undefined
    ? { name: 'active', tone: 'good' }
    : { name: 'fails', tone: 'bad' };
}

/** `lake/millrace/ at https://s3.example.com` */
export function placeText({ bucket }: ExportSchedule): string {
  return `${bucket?.bucket}/${bucket?.prefix} at ${bucket?.endpoint}`;
}

/** How long its periods are, for a field and for people. */
export function cadenceOf({ cadence }: ExportSchedule) {
  return cadences.find((one) => one.cadence === cadence) ?? cadences[1];
}
