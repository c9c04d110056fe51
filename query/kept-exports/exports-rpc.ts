// ExportsService: asks for kept exports, tells of them, ends them. Writing their files is the turns' (take-turn.ts), in
// whatever process has the lease.

import { randomUUID } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Principal } from '../../platform/access/authenticate.ts';
import { createTokenBuckets } from '../../platform/access/token-bucket.ts';
import type { BucketRoom } from '../../platform/broker/bucket-room.ts';
import { BucketFull } from '../../platform/broker/record-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import { type ExportRecord, hasEnded, maxExports } from '../../platform/exports/export-record.ts';
import type { Log } from '../../platform/log.ts';
import type {
  CancelRequest,
  CreateRequest,
  Export,
  GetRequest,
} from '../../proto/gen/shared/exports/v1/exports_pb.js';
import { checkQuery, type ReadSegments } from './export-query.ts';
import { exportView } from './export-view.ts';
import { type KeptRoom, refuseFull } from './files/write-part.ts';
import { type FindExport, type KeptBucket, placesOf } from './find-export.ts';

export interface RpcParts {
  bucket: KeptBucket;
  find: FindExport;
  directoryId: string;
  readSegments: ReadSegments;
  /** Of the bucket, for new records alone: what is told of one must be written though the bucket is nearly full. */
  bucketRoom?: Pick<BucketRoom, 'isScarce' | 'refused'> | undefined;
  room: KeptRoom;
  /** Removes the files of an export at once; what is written at that moment is left to a turn. */
  removeFiles?: (projectId: string, id: string) => Promise<void>;
  clock: Clock;
  log: Log;
}

/** Of a key or a customer: so many at once, then two a minute. */
const asksAtOnce = 20;
const asksPerSecond = 1 / 30;
const maxConflicts = 10;

export function createExportsRpc(parts: RpcParts) {
  const { bucket, find, directoryId, bucketRoom, room, clock } = parts;
  const asks = createTokenBuckets({ perSecond: asksPerSecond, burst: asksAtOnce, clock });
  const view = (record: ExportRecord): Export => exportView(record, clock.nowMs());
  return {
    async create({ query }: CreateRequest, caller: Principal): Promise<{ export: Export }> {
      const { projectId, keyId, customer } = caller;
      const checked = await checkQuery(projectId, query, parts.readSegments);
      const waitSeconds = asks.take(keyId, 1);
      if (waitSeconds > 0) {
        throw new ConnectError('too many exports were asked for', Code.ResourceExhausted, {
          'retry-after': String(waitSeconds),
        });
      }
      await refuseFull(room, projectId, 0);
      if (bucketRoom?.isScarce()) {
        bucketRoom.refused();
        throw new BucketFull('the bucket is nearly full');
      }
      const nowMs = clock.nowMs();
      const record: ExportRecord = {
        ...{ schemaVersion: 1, id: randomUUID(), directoryId, query: checked },
        customerId: customer?.customerId ?? '',
        ...{
          state: 'pending',
          reason: '',
          createMs: nowMs,
          stateMs: nowMs,
          progressMs: nowMs,
          expireMs: 0,
        },
        ...{ completeUntilMs: 0, partCount: 0, parts: [], hasFiles: true, isTold: false },
        ...{ tries: 0, nextTryMs: 0, leaseEndMs: 0 },
      };
      await keep(bucket, directoryId, projectId, record);
      return { export: view(record) };
    },
    async get({ id }: GetRequest, { projectId }: Principal): Promise<{ export: Export }> {
      return { export: view((await find(projectId, id)).record) };
    },
    list(projectId: string): { exports: Export[] } {
      const records = placesOf(projectId).flatMap((key) => bucket.get(key)?.record ?? []);
      return { exports: records.sort((one, other) => other.createMs - one.createMs).map(view) };
    },
    async cancel({ id }: CancelRequest, { projectId }: Principal): Promise<Record<string, never>> {
      const { key } = await find(projectId, id);
      for (let tries = 0; tries < maxConflicts; tries++) {
        const found = await bucket.ask(key);
        if (found.kind !== 'found' || found.record.id !== id || hasEnded(found.record)) return {};
        const stateMs = clock.nowMs();
        // Without a lease, so that whoever writes it writes nothing more, and its files can go at once.
        const ended = { ...found.record, state: 'cancelled', stateMs, leaseEndMs: 0 } as const;
        const written = await bucket.update(
          key,
          { ...ended, parts: [], reason: '' },
          found.revision,
        );
        if (written.kind !== 'written') continue;
        if (ended.directoryId === directoryId) await removeAtOnce(parts, projectId, id);
        return {};
      }
      throw new ConnectError('the export changes all the time, try again', Code.Unavailable);
    },
  };
}

/** The record says that it has files until a turn has removed them: a disk that refuses is no error of a caller. */
async function removeAtOnce(
  { removeFiles, log }: Pick<RpcParts, 'removeFiles' | 'log'>,
  projectId: string,
  id: string,
): Promise<void> {
  try {
    await removeFiles?.(projectId, id);
  } catch (error) {
    log.warn({ projectId, exportId: id, err: error }, 'files of a cancelled export stay');
  }
}

/** Takes a free place, else the one that ended first. Throws resource_exhausted where all are in use. */
async function keep(
  bucket: KeptBucket,
  directoryId: string,
  projectId: string,
  record: ExportRecord,
): Promise<void> {
  const places = placesOf(projectId).map((key) => ({ key, held: bucket.get(key) }));
  const free = places
    .filter(({ held }) => held === undefined || isOver(held.record, directoryId))
    .sort((one, other) => (one.held?.record.stateMs ?? 0) - (other.held?.record.stateMs ?? 0));
  for (const { key, held } of free) {
    const written =
      held === undefined
        ? await bucket.create(key, record)
        : await bucket.update(key, record, held.revision);
    if (written.kind === 'written') return;
  }
  throw new ConnectError(
    `the project has ${maxExports} exports: cancel one, or wait until one expires`,
    Code.ResourceExhausted,
  );
}

/** Whether nothing of it is left to be done here. */
function isOver(record: ExportRecord, directoryId: string): boolean {
  return hasEnded(record) && !(record.hasFiles && record.directoryId === directoryId);
}
