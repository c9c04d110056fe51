// A kept export as its readers see it.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type ExportRecord,
  type ExportStateName,
  sizeOf,
} from '../../platform/exports/export-record.ts';
import {
  type Export,
  ExportSchema,
  ExportState,
} from '../../proto/gen/shared/exports/v1/exports_pb.js';
import { queryOf } from './export-query.ts';

const states: Readonly<Record<ExportStateName, ExportState>> = {
  pending: ExportState.PENDING,
  running: ExportState.RUNNING,
  ready: ExportState.READY,
  failed: ExportState.FAILED,
  cancelled: ExportState.CANCELLED,
  expired: ExportState.EXPIRED,
};

/** Once its time is over it is expired, whether or not its files are gone yet. */
export function exportView(record: ExportRecord, nowMs: number): Export {
  const isOver = isPast(record, nowMs);
  const { rows, bytes } = sizeOf(record);
  const moment = (ms: number) => (ms === 0 ? undefined : timestampFromMs(ms));
  const [completeUntil, expireTime] = [moment(record.completeUntilMs), moment(record.expireMs)];
  return create(ExportSchema, {
    id: record.id,
    query: queryOf(record.query),
    state: isOver ? ExportState.EXPIRED : states[record.state],
    reason: record.reason,
    parts: isOver ? [] : record.parts.map((part) => ({ ...part, ...big(part) })),
    partCount: record.partCount,
    ...big({ rows, bytes }),
    ...(completeUntil && { completeUntil }),
    createTime: timestampFromMs(record.createMs),
    stateTime: timestampFromMs(isOver ? record.expireMs : record.stateMs),
    ...(expireTime && { expireTime }),
  });
}

export function isPast({ state, expireMs }: ExportRecord, nowMs: number): boolean {
  return state === 'ready' && nowMs >= expireMs;
}

function big({ rows, bytes }: { rows: number; bytes: number }): { rows: bigint; bytes: bigint } {
  return { rows: BigInt(rows), bytes: BigInt(bytes) };
}
