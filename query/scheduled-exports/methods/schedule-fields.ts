// Reads what a scheduled export is asked for: every rule of its fields, before anything is kept or any bucket is tried.

import type { BlockList } from 'node:net';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { checkEndpointUrl } from '../../../platform/endpoints/endpoint-url.ts';
import type { BucketTarget, Cadence } from '../../../platform/exports/schedule-record.ts';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { hasMoreCodePoints } from '../../../platform/limits.ts';
import {
  type ExportBucket,
  ExportCadence,
} from '../../../proto/gen/dashboard/exports/v1/export_schedules_pb.js';
import {
  ExportColumns,
  type ExportQuery,
  ExportWhat,
} from '../../../proto/gen/shared/exports/v1/exports_pb.js';
import { lengthOf, maxPeriodsBack, periodOf } from '../periods.ts';

const maxNameCharacters = 150;
const controlCharacter = /[\p{Cc}\u2028\u2029]/u;

export function nameField(text: string): string {
  const name = text.trim();
  if (name === '') throw invalidArgument('displayName', 'is required');
  if (hasMoreCodePoints(name, maxNameCharacters)) {
    throw invalidArgument('displayName', `must have at most ${maxNameCharacters} characters`);
  }
  if (controlCharacter.test(name)) {
    throw invalidArgument('displayName', 'must have no control characters');
  }
  return name;
}

export function cadenceField(cadence: ExportCadence): Cadence {
  switch (cadence) {
    case ExportCadence.HOURLY:
      return 'hourly';
    case ExportCadence.DAILY:
      return 'daily';
    case ExportCadence.UNSPECIFIED:
      throw invalidArgument('cadence', 'is required');
    default:
      return cadence satisfies never;
  }
}

/** What a schedule adds to the rules of kept exports (kept-exports/export-query.ts). */
export function checkScheduled(query: ExportQuery | undefined, cadence: Cadence): void {
  if (query === undefined) return;
  const { timeRange, distinctId, profileId, sessionId } = query;
  if (timeRange !== undefined)
    throw invalidArgument('query.timeRange', 'must be empty: the schedule has its own');
  for (const [name, value] of Object.entries({ distinctId, profileId, sessionId })) {
    if (value !== '') throw invalidArgument(`query.${name}`, 'is not for scheduled exports');
  }
  if (query.columns === ExportColumns.FLAT) {
    throw invalidArgument('query.columns', 'must be MAPS, so that all files have the same columns');
  }
  const isOfEvents = query.what === ExportWhat.EVENTS;
  if (!isOfEvents && cadence === 'hourly') {
    throw invalidArgument('cadence', 'must be DAILY: only events are written by the hour');
  }
}

/**
 * Where periods begin that a person asks for; undefined where none is given. `isOfEvents`: the rows of others are those
 * of the moment at which they are written.
 */
export function momentField(
  field: string,
  moment: Timestamp | undefined,
  cadence: Cadence,
  { isOfEvents, nowMs }: { isOfEvents: boolean; nowMs: number },
): number | undefined {
  if (moment === undefined) return undefined;
  if (!isOfEvents) throw invalidArgument(field, 'is for events');
  const atMs = Number(moment.seconds) * 1_000;
  if (atMs > nowMs) throw invalidArgument(field, 'must not be after now');
  if (atMs < nowMs - maxPeriodsBack * lengthOf(cadence)) {
    throw invalidArgument(field, `must be at most ${maxPeriodsBack} periods ago`);
  }
  return periodOf(cadence, atMs).fromMs;
}

const regionPattern = /^[a-z0-9-]{1,64}$/;
/** S3's own rule, which leaves nothing that a path or a host's name could misread. */
const bucketPattern = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const prefixPattern = /^[A-Za-z0-9!_.*'()=/-]{0,200}$/;
const keyIdPattern = /^[\x21-\x7e]{1,256}$/;
const maxSecretCharacters = 1_024;
const usualRegion = 'us-east-1';

/** Without its secret. */
export function bucketFields(
  bucket: ExportBucket | undefined,
  allowed: BlockList,
): Omit<BucketTarget, 'sealedSecret'> {
  if (bucket === undefined) throw invalidArgument('bucket', 'is required');
  const region = bucket.region || usualRegion;
  if (!regionPattern.test(region)) {
    throw invalidArgument('bucket.region', 'must be the name of a region, such as eu-central-1');
  }
  const isName = bucketPattern.test(bucket.bucket) && !bucket.bucket.includes('..');
  if (!isName) throw invalidArgument('bucket.bucket', 'must be the name of a bucket');
  return {
    endpoint: endpointField(bucket.endpoint, allowed),
    ...{ region, bucket: bucket.bucket },
    prefix: prefixField(bucket.prefix),
    isPathStyle: bucket.pathStyle,
    accessKeyId: keyIdField('bucket.accessKeyId', bucket.accessKeyId),
  };
}

/** An origin. */
function endpointField(text: string, allowed: BlockList): string {
  if (text === '') throw invalidArgument('bucket.endpoint', 'is required');
  const checked = checkEndpointUrl(text, { allowed });
  if (checked.kind === 'refused') throw invalidArgument('bucket.endpoint', checked.rule);
  const { url } = checked;
  if (url.pathname !== '/' || url.search !== '') {
    throw invalidArgument(
      'bucket.endpoint',
      'must have no path: the bucket has a field of its own',
    );
  }
  return url.origin;
}

function prefixField(text: string): string {
  const parts = text.replace(/\/$/, '').split('/');
  const isPlain =
    text === '' || parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isPlain || !prefixPattern.test(text)) {
    const rule =
      "must have at most 200 letters, digits and /!_.*'()=-, and no empty part or dots alone";
    throw invalidArgument('bucket.prefix', rule);
  }
  return text === '' ? '' : `${parts.join('/')}/`;
}

export function keyIdField(field: string, text: string): string {
  if (text === '') throw invalidArgument(field, 'is required');
  if (keyIdPattern.test(text)) return text;
  throw invalidArgument(field, 'must be the id of an access key');
}

/** The message never repeats it. */
export function secretField(text: string): string {
  if (text === '') throw invalidArgument('secretAccessKey', 'is required');
  if (text.length > maxSecretCharacters || !/^[\x21-\x7e]*$/.test(text)) {
    throw invalidArgument('secretAccessKey', 'must be the secret of an access key');
  }
  return text;
}
