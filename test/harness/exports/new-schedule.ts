// The record of a scheduled export as it is right after it was made: all events as JSON lines, hour by hour.

import { randomUUID } from 'node:crypto';
import { create, toJson } from '@bufbuild/protobuf';
import type { BucketTarget, ScheduleRecord } from '../../../platform/exports/schedule-record.ts';
import {
  ExportFormat,
  ExportQuerySchema,
  ExportWhat,
} from '../../../proto/gen/shared/exports/v1/exports_pb.js';
import { s3Key, s3Region } from './s3-server.ts';

/** `startMs`: where its first period begins. */
export function newSchedule(
  startMs: number,
  target: Pick<BucketTarget, 'endpoint' | 'sealedSecret'>,
): ScheduleRecord {
  return {
    ...{ schemaVersion: 1, id: randomUUID(), displayName: 'To the lake', customerId: 'ada' },
    query: scheduledQuery(ExportWhat.EVENTS),
    target: {
      ...{ region: s3Region, bucket: 'bucket', prefix: 'in/', isPathStyle: true },
      ...{ accessKeyId: s3Key.accessKeyId, ...target },
    },
    ...{ cadence: 'hourly', state: 'active', telling: 'nothing' },
    ...{ reason: '', createMs: startMs, updateMs: startMs, nextFromMs: startMs },
    ...{ lastError: '', lastErrorMs: 0, failingSinceMs: 0, toldMs: 0 },
    ...{ tellTries: 0, nextTellMs: 0, tries: 0, nextTryMs: 0, leaseEndMs: 0 },
  };
}

export function scheduledQuery(what: ExportWhat, format = ExportFormat.NDJSON) {
  return toJson(ExportQuerySchema, create(ExportQuerySchema, { what, format }));
}
