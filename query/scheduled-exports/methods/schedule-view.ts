// A scheduled export as its readers see it: without the secret of its key.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Cadence, ScheduleRecord } from '../../../platform/exports/schedule-record.ts';
import {
  ExportCadence,
  type ExportSchedule,
  ExportScheduleSchema,
  ExportScheduleState,
} from '../../../proto/gen/dashboard/exports/v1/export_schedules_pb.js';
import { queryOf } from '../../kept-exports/export-query.ts';
import { readyMs } from '../periods.ts';

const cadences: Readonly<Record<Cadence, ExportCadence>> = {
  hourly: ExportCadence.HOURLY,
  daily: ExportCadence.DAILY,
};

export function scheduleView(record: ScheduleRecord): ExportSchedule {
  const { target, last, progress } = record;
  const isActive = record.state === 'active';
  const moment = (ms: number) => (ms === 0 ? undefined : timestampFromMs(ms));
  const [lastErrorTime, failingSince] = [moment(record.lastErrorMs), moment(record.failingSinceMs)];
  return create(ExportScheduleSchema, {
    ...{ id: record.id, displayName: record.displayName, reason: record.reason },
    query: queryOf(record.query),
    cadence: cadences[record.cadence],
    bucket: {
      ...{ endpoint: target.endpoint, region: target.region, bucket: target.bucket },
      ...{ prefix: target.prefix, pathStyle: target.isPathStyle, accessKeyId: target.accessKeyId },
    },
    state: isActive ? ExportScheduleState.ACTIVE : ExportScheduleState.PAUSED,
    createTime: timestampFromMs(record.createMs),
    updateTime: timestampFromMs(record.updateMs),
    nextPeriodTime: timestampFromMs(progress?.fromMs ?? record.nextFromMs),
    ...(isActive && { nextRunTime: timestampFromMs(Math.max(record.nextTryMs, readyMs(record))) }),
    ...(last && {
      lastPeriod: {
        ...{ from: timestampFromMs(last.fromMs), to: timestampFromMs(last.toMs) },
        ...{ files: last.files, rows: BigInt(last.rows), bytes: BigInt(last.bytes) },
        doneTime: timestampFromMs(last.doneMs),
      },
    }),
    lastError: record.lastError,
    ...(lastErrorTime && { lastErrorTime }),
    ...(failingSince && { failingSince }),
  });
}
