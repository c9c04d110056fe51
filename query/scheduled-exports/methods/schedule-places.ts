// The places that a project has for scheduled exports: one is found, taken, or changed by compare-and-set.

import { Code, ConnectError } from '@connectrpc/connect';
import type { WatchedBucket } from '../../../platform/broker/watched-bucket.ts';
import {
  type BucketTarget,
  maxSchedules,
  type ScheduleRecord,
  scheduleKey,
} from '../../../platform/exports/schedule-record.ts';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import type { ExportWhat } from '../../../proto/gen/shared/exports/v1/exports_pb.js';
import { queryOf } from '../../kept-exports/export-query.ts';

export type ScheduleBucket = Pick<
  WatchedBucket<ScheduleRecord>,
  'get' | 'ask' | 'create' | 'update'
>;

const maxConflicts = 10;

/** The keys of the project's scheduled exports. */
export function placesOf(projectId: string): string[] {
  return Array.from({ length: maxSchedules }, (_, place) => scheduleKey(projectId, place));
}

export function livingIn(record: ScheduleRecord | undefined): ScheduleRecord[] {
  return record === undefined || record.state === 'deleted' ? [] : [record];
}

/** Two that write to one place would each write over the other's files. */
export function refuseTaken(
  bucket: ScheduleBucket,
  projectId: string,
  target: Omit<BucketTarget, 'sealedSecret'>,
  what: ExportWhat | undefined,
): void {
  const isTaken = placesOf(projectId)
    .flatMap((key) => livingIn(bucket.get(key)?.record))
    .some(
      (one) =>
        one.target.endpoint === target.endpoint &&
        one.target.bucket === target.bucket &&
        one.target.prefix === target.prefix &&
        queryOf(one.query).what === what,
    );
  if (!isTaken) return;
  const message = 'bucket.prefix: another scheduled export of the project writes there';
  throw new ConnectError(message, Code.AlreadyExists);
}

/** The broker is asked where memory has none, as another process may have just made it. Throws not_found. */
export async function findSchedule(
  bucket: ScheduleBucket,
  projectId: string,
  id: string,
): Promise<{ key: string; record: ScheduleRecord }> {
  const keys = placesOf(projectId);
  for (const key of keys) {
    const [record] = livingIn(bucket.get(key)?.record);
    if (record?.id === id) return { key, record };
  }
  const asked = await Promise.all(keys.map(async (key) => ({ key, read: await bucket.ask(key) })));
  for (const { key, read } of asked) {
    const [record] = livingIn(read.kind === 'found' ? read.record : undefined);
    if (record?.id === id) return { key, record };
  }
  throw notThere();
}

/** Takes a free place. Throws resource_exhausted where all are in use. */
export async function keepSchedule(
  bucket: ScheduleBucket,
  projectId: string,
  record: ScheduleRecord,
): Promise<void> {
  for (const key of placesOf(projectId)) {
    const held = bucket.get(key);
    if (livingIn(held?.record).length > 0) continue;
    const written =
      held === undefined
        ? await bucket.create(key, record)
        : await bucket.update(key, record, held.revision);
    if (written.kind === 'written') return;
  }
  throw new ConnectError(
    `the project has ${maxSchedules} scheduled exports: delete another one first`,
    Code.ResourceExhausted,
  );
}

/** Whoever writes for it now loses its lease at the next write, and another one begins once that has ended. */
export async function changeSchedule(
  bucket: ScheduleBucket,
  projectId: string,
  id: string,
  changed: (record: ScheduleRecord) => ScheduleRecord,
): Promise<ScheduleRecord> {
  if (id === '') throw invalidArgument('id', 'is required');
  const { key } = await findSchedule(bucket, projectId, id);
  for (let attempt = 0; attempt < maxConflicts; attempt++) {
    const found = await bucket.ask(key);
    const [record] = livingIn(found.kind === 'found' ? found.record : undefined);
    if (found.kind !== 'found' || record?.id !== id) throw notThere();
    const next = changed(record);
    const written = await bucket.update(key, next, found.revision);
    if (written.kind === 'written') return next;
  }
  throw new ConnectError('it changes all the time, try again', Code.Unavailable);
}

function notThere(): ConnectError {
  return new ConnectError('there is no such scheduled export', Code.NotFound);
}
