// Puts scheduled exports together for one process: ExportSchedulesService, and the turns that write to buckets. The
// records are kept in memory.

import type { BlockList } from 'node:net';
import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import type { BucketRoom } from '../../platform/broker/bucket-room.ts';
import { buckets } from '../../platform/broker/buckets.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { type WatchedBucket, watchBucket } from '../../platform/broker/watched-bucket.ts';
import { freeBytes } from '../../platform/engines/disk-room.ts';
import { ExportFiles } from '../../platform/exports/export-files.ts';
import { projectOfKey } from '../../platform/exports/export-record.ts';
import {
  readScheduleRecord,
  type ScheduleRecord,
  scheduleSecretPurpose,
} from '../../platform/exports/schedule-record.ts';
import { createDnsInternet, type Internet } from '../../platform/mail/internet.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import { isLeased } from '../../platform/turns/held-record.ts';
import { runTurns } from '../../platform/turns/run-turns.ts';
import { ExportSchedulesService } from '../../proto/gen/dashboard/exports/v1/export_schedules_pb.js';
import { scheduledExportsAtOnce } from '../calls/turn-bounds.ts';
import type { KeptExportsOptions } from '../kept-exports/start.ts';
import { readSegmentsOf, retainedGroupOf, usualPartRows } from '../kept-exports/start.ts';
import { createSchedulesRpc, type ScheduleCaller } from './methods/schedules-rpc.ts';
import type { ScheduleParts } from './schedule-parts.ts';
import { type ObjectStore, type OpenTarget, openObjectStore } from './store/object-store.ts';
import { StoreFailure } from './store/store-failure.ts';
import { isDue, leaseMs, takeTurn } from './take-turn.ts';

export interface ScheduledExportsOptions
  extends Pick<ScheduleParts, 'completeUntilMs' | 'project' | 'publicUrl' | 'clock' | 'log'>,
    Pick<KeptExportsOptions, 'findSegment' | 'timezoneOf' | 'dataDir' | 'reserveBytes'>,
    Pick<KeptExportsOptions, 'clickhouse' | 'retainedFrom'> {
  nats: NatsConnection;
  bucketRoom?: BucketRoom;
  box: SecretBox;
  /** Networks that endpoints may be in besides the public internet; plain http may be spoken there. */
  allowed: BlockList;
  isProven(customerId: string): boolean;
  callerOf(context: HandlerContext): ScheduleCaller;
  mail: {
    members: ScheduleParts['members'];
    organization(id: string): { admins: readonly { email: string }[] } | undefined;
    send: ScheduleParts['sendMail'];
  };
  /** What tests exchange. */
  partRows?: number;
  internet?: Internet;
  extraCertificates?: string;
}

export interface ScheduledExports {
  /** Registers the methods. */
  register(router: ConnectRouter): void;
  /** What is under way is left to the next process. */
  stop(): Promise<void>;
}

/** Begins to write what is due. */
export async function openScheduledExports(
  options: ScheduledExportsOptions,
): Promise<ScheduledExports> {
  const { nats, box, mail, clock, log } = options;
  const files = new ExportFiles(options.dataDir, 'scheduled-exports');
  await files.openDirectory();
  const opened = await openBucket(nats, buckets.exportSchedules, readScheduleRecord);
  const bucket = await watchBucket(nats, opened, { log });
  await removeLeft(files, bucket, clock.nowMs());
  const internet = options.internet ?? createDnsInternet({});
  const openStore = (target: OpenTarget): ObjectStore =>
    openObjectStore(target, { ...options, internet });
  const readSegments = readSegmentsOf(options);
  const stopping = new AbortController();
  const parts: ScheduleParts = {
    ...options,
    states: {
      get: bucket.ask.bind(bucket),
      create: bucket.create.bind(bucket),
      update: bucket.update.bind(bucket),
    },
    known: (key) => bucket.get(key)?.record,
    files,
    room: {
      freeBytes: () => freeBytes(files.directory),
      reserveBytes: options.reserveBytes,
      ...{ maxBytesOfProject: maxFileBytes, keptBytes: () => 0 },
    },
    group: retainedGroupOf(options),
    readSegments,
    partRows: options.partRows ?? usualPartRows,
    openStore: (record) => openStore(openedTarget(record, box)),
    members: mail.members,
    admins: (organizationId) => mail.organization(organizationId)?.admins ?? [],
    sendMail: mail.send,
    stopping: stopping.signal,
  };
  const rpc = createSchedulesRpc({ ...options, bucket, readSegments, openStore });
  const turns = runTurns<[key: string, record: ScheduleRecord]>({
    ...{ noun: 'scheduled export', clock, log, atOnce: scheduledExportsAtOnce },
    // Nothing more of a project that is deleted leaves, though its schedules are there for some seconds.
    all: () =>
      [...bucket.records()].filter(
        ([key, record]) =>
          options.project(projectOfKey(key)) !== undefined && isDue(record, clock.nowMs()),
      ),
    nameOf: ([key, { id, state, updateMs, nextFromMs }]) =>
      `${key} ${id} ${state} ${updateMs} ${nextFromMs}`,
    organizationOf: ([key]) => options.project(projectOfKey(key))?.organizationId ?? '',
    take: ([key]) => takeTurn(parts, key),
  });
  return {
    register: (router) => registerSchedules(router, rpc, options.callerOf),
    async stop() {
      stopping.abort();
      await turns.stop();
      await bucket.close();
    },
  };
}

/** S3 takes no larger one in one request. */
const maxFileBytes = 5 * 1_024 ** 3;

function registerSchedules(
  router: ConnectRouter,
  rpc: ReturnType<typeof createSchedulesRpc>,
  callerOf: ScheduledExportsOptions['callerOf'],
): void {
  const { list, get, create, update, delete: remove, run } = ExportSchedulesService.method;
  router
    .rpc(list, (_, context) => rpc.list(callerOf(context)))
    .rpc(get, (request, context) => rpc.get(request, callerOf(context)))
    .rpc(create, (request, context) => rpc.create(request, callerOf(context)))
    .rpc(update, (request, context) => rpc.update(request, callerOf(context)))
    .rpc(remove, (request, context) => rpc.delete(request, callerOf(context)))
    .rpc(run, (request, context) => rpc.run(request, callerOf(context)));
}

/** Throws StoreFailure where no key opens the secret. */
function openedTarget({ id, target }: ScheduleRecord, box: SecretBox): OpenTarget {
  const { sealedSecret, ...open } = target;
  const secret = box.open(sealedSecret, scheduleSecretPurpose(id));
  if (secret !== undefined) return { ...open, secret };
  throw new StoreFailure('the secret of its key does not open: set the key again');
}

/** A process that was killed may have left a file on its way; one that somebody works on now is theirs. */
async function removeLeft(
  files: ExportFiles,
  bucket: Pick<WatchedBucket<ScheduleRecord>, 'records'>,
  nowMs: number,
): Promise<void> {
  const leased = new Set(
    [...bucket.records()].flatMap(([, record]) =>
      isLeased(record, nowMs, leaseMs) ? [record.id] : [],
    ),
  );
  for (const { projectId, id } of await files.all()) {
    if (!leased.has(id)) await files.remove(projectId, id);
  }
}
