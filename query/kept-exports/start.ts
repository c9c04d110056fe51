// Puts kept exports together for one process: ExportsService, the files over HTTP, and the turns that write them. The
// bucket is kept in memory.

import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import type { Authenticate, Principal } from '../../platform/access/authenticate.ts';
import type { BucketRoom } from '../../platform/broker/bucket-room.ts';
import { buckets } from '../../platform/broker/buckets.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { watchBucket } from '../../platform/broker/watched-bucket.ts';
import type { Groups } from '../../platform/clickhouse/groups.ts';
import type { ResultReader, RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../platform/clock.ts';
import { freeBytes } from '../../platform/engines/disk-room.ts';
import { ExportFiles } from '../../platform/exports/export-files.ts';
import {
  type ExportRecord,
  exportKey,
  hasEnded,
  maxExports,
  projectOfKey,
  readExportRecord,
  sizeOf,
} from '../../platform/exports/export-record.ts';
import type { NodeHttpRoute } from '../../platform/http/http.ts';
import type { Log } from '../../platform/log.ts';
import type { RetainedFrom } from '../../platform/retained/retained-from.ts';
import { retainedReader } from '../../platform/retained/row-filters.ts';
import { runTurns } from '../../platform/turns/run-turns.ts';
import type { QueueParts } from '../../platform/webhooks/project-deliveries.ts';
import { publishMessage } from '../../platform/webhooks/publish-message.ts';
import { ExportsService } from '../../proto/gen/shared/exports/v1/exports_pb.js';
import { keptExportsAtOnce } from '../calls/turn-bounds.ts';
import { createExportRoute, type ExportSegments } from '../export/export-route.ts';
import { readListed } from '../insights/segments/listed-persons.ts';
import type { ExportParts } from './export-parts.ts';
import { type ReadSegments, segmentFields } from './export-query.ts';
import { createExportsRpc } from './exports-rpc.ts';
import { createFilesRoute } from './files/files-route.ts';
import { defaultMaxBytesOfProject, type KeptRoom } from './files/write-part.ts';
import { createFindExport } from './find-export.ts';
import { isDue, takeTurn } from './take-turn.ts';

export interface KeptExportsOptions
  extends Pick<ExportParts, 'completeUntilMs' | 'project' | 'publicUrl'>,
    ExportSegments {
  nats: NatsConnection;
  webhooks: QueueParts['webhooks'];
  /** Without it new records use the room that is kept back in the bucket, too. */
  bucketRoom?: BucketRoom;
  clickhouse: Groups<RowReader & ResultReader>;
  dataDir: string;
  /** Before which moment a project has no events; never unless given. */
  retainedFrom?: RetainedFrom;
  /** Free space of the disk below which nothing of an export is written. */
  reserveBytes: number;
  authenticate: Authenticate;
  callerOf(context: HandlerContext): Principal;
  ownerOf?: (projectId: string) => string;
  mail: { members: ExportParts['members']; send: ExportParts['sendMail'] };
  clock: Clock;
  log: Log;
  /** The usual ones unless given. */
  partRows?: number;
  maxBytesOfProject?: number;
}

export interface KeptExports {
  /** GET /export, and the files that are kept. */
  routes: readonly NodeHttpRoute[];
  /** Registers the methods. */
  register(router: ConnectRouter): void;
  /** What is under way is left to the next process. */
  stop(): Promise<void>;
}

/** Some tens of MiB of a Parquet file, some hundreds of text. */
export const usualPartRows = 500_000;

/** Reads what the project keeps alone. */
export function retainedGroupOf({
  clickhouse,
  retainedFrom,
}: Pick<KeptExportsOptions, 'clickhouse' | 'retainedFrom'>): ExportParts['group'] {
  return (projectId) =>
    retainedReader(clickhouse.ofProject(projectId), () => retainedFrom?.(projectId));
}

/** Begins to write what was asked for before. */
export async function openKeptExports(options: KeptExportsOptions): Promise<KeptExports> {
  const { nats, dataDir, reserveBytes, mail, clock, log } = options;
  const files = new ExportFiles(dataDir);
  const directoryId = await files.openDirectory();
  const opened = await openBucket(nats, buckets.exports, readExportRecord);
  const bucket = await watchBucket(nats, opened, { log });
  const room: KeptRoom = {
    freeBytes: () => freeBytes(files.directory),
    reserveBytes,
    maxBytesOfProject: options.maxBytesOfProject ?? defaultMaxBytesOfProject,
    keptBytes: (projectId) => keptBytes(projectId, (key) => bucket.get(key)?.record),
  };
  const stopping = new AbortController();
  const parts: ExportParts = {
    ...options,
    states: {
      get: bucket.ask.bind(bucket),
      create: bucket.create.bind(bucket),
      update: bucket.update.bind(bucket),
    },
    known: (key) => bucket.get(key)?.record,
    ...{ files, directoryId, room },
    group: retainedGroupOf(options),
    readSegments: readSegmentsOf(options),
    partRows: options.partRows ?? usualPartRows,
    ...{ members: mail.members, sendMail: mail.send },
    deliveries: {
      webhooks: options.webhooks,
      publish: (subject, content, messageId) => publishMessage(nats, subject, content, messageId),
    },
    stopping: stopping.signal,
  };
  const { bucketRoom } = options;
  const find = createFindExport(bucket, clock);
  const rpc = createExportsRpc({
    ...{ bucket, find, directoryId, bucketRoom, room, clock, log },
    readSegments: parts.readSegments,
    removeFiles: (projectId, id) => files.remove(projectId, id),
  });
  const turns = runTurns<[key: string, record: ExportRecord]>({
    ...{ noun: 'export', clock, log, atOnce: keptExportsAtOnce },
    all: () =>
      [...bucket.records()].filter(([, record]) =>
        isDue(record, record.directoryId === directoryId, clock.nowMs()),
      ),
    nameOf: ([key, { id, state }]) => `${key} ${id} ${state}`,
    organizationOf: ([key]) => options.project(projectOfKey(key))?.organizationId ?? '',
    take: ([key]) => takeTurn(parts, key),
  });
  return {
    routes: [
      createExportRoute(options),
      createFilesRoute({ ...options, find, files, directoryId }),
    ],
    register(router) {
      const { create, get, list, cancel } = ExportsService.method;
      const { callerOf } = options;
      router
        .rpc(create, (request, context) => rpc.create(request, callerOf(context)))
        .rpc(get, (request, context) => rpc.get(request, callerOf(context)))
        .rpc(list, (_, context) => rpc.list(callerOf(context).projectId))
        .rpc(cancel, (request, context) => rpc.cancel(request, callerOf(context)));
    },
    async stop() {
      stopping.abort();
      await turns.stop();
      await bucket.close();
    },
  };
}

/** Without a place where segments are found there are none. */
export function readSegmentsOf({
  findSegment = async () => undefined,
  timezoneOf = () => 'UTC',
  clock,
}: Pick<KeptExportsOptions, 'findSegment' | 'timezoneOf' | 'clock'>): ReadSegments {
  const sources = { findSegment, timezoneOf, clock };
  return (projectId, query) => readListed(sources, projectId, query, segmentFields);
}

/** Of the project's exports on the disk. */
function keptBytes(projectId: string, recordOf: (key: string) => ExportRecord | undefined): number {
  let bytes = 0;
  for (let place = 0; place < maxExports; place++) {
    const record = recordOf(exportKey(projectId, place));
    if (record !== undefined && !hasEnded(record)) bytes += sizeOf(record).bytes;
  }
  return bytes;
}
