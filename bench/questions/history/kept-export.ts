// A kept export as the service writes it, turn by turn, without a broker: its record is in memory, and nobody is told
// when it is ready.

import { create, toJson } from '@bufbuild/protobuf';
import type { DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { systemClock } from '../../../platform/clock.ts';
import { freeBytes } from '../../../platform/engines/disk-room.ts';
import { ExportFiles } from '../../../platform/exports/export-files.ts';
import { type ExportRecord, exportKey } from '../../../platform/exports/export-record.ts';
import { createLog } from '../../../platform/log.ts';
import {
  ExportFormat,
  ExportQuerySchema,
  ExportWhat,
} from '../../../proto/gen/shared/exports/v1/exports_pb.js';
import { noSegments } from '../../../query/insights/segments/listed-persons.ts';
import type { ExportParts } from '../../../query/kept-exports/export-parts.ts';
import { usualPartRows } from '../../../query/kept-exports/start.ts';
import { takeTurn } from '../../../query/kept-exports/take-turn.ts';
import { check } from '../../bench.ts';
import type { Contender } from '../../harness/pairs.ts';

interface KeptExportOptions {
  client: DatabaseClient;
  /** The files are below it. */
  dataDir: string;
  projectId: string;
}

/** Each run writes all events of the project as Parquet and returns their number. */
export function keptExport({ client, dataDir, projectId }: KeptExportOptions): Contender {
  const files = new ExportFiles(dataDir);
  const key = exportKey(projectId, 0);
  let revision = 0;
  let record = newRecord(revision);
  const states: ExportParts['states'] = {
    get: async () => ({ kind: 'found', record, revision }),
    create: async () => ({ kind: 'conflict' }),
    async update(_, changed, base) {
      if (base !== revision) return { kind: 'conflict' };
      record = changed;
      revision++;
      return { kind: 'written', revision };
    },
  };
  const parts: ExportParts = {
    ...{ states, files, directoryId: 'own', partRows: usualPartRows },
    known: () => undefined,
    room: {
      ...{ freeBytes: () => freeBytes(dataDir), reserveBytes: 0, keptBytes: () => 0 },
      maxBytesOfProject: Number.MAX_SAFE_INTEGER,
    },
    group: () => client,
    completeUntilMs: async () => undefined,
    readSegments: async () => noSegments,
    project: () => undefined,
    members: () => [],
    deliveries: {
      webhooks: { webhooksOf: () => [] },
      publish: async () => ({ kind: 'stored', seq: 1, duplicate: false }),
    },
    sendMail: async () => ({ kind: 'sent' }),
    publicUrl: () => '',
    stopping: new AbortController().signal,
    ...{ clock: systemClock, log: createLog('silent') },
  };
  return {
    async prepare() {
      await files.remove(projectId, record.id);
      await files.openDirectory();
      record = newRecord(++revision);
    },
    async run() {
      while (record.state === 'pending' || record.state === 'running') await takeTurn(parts, key);
      check(record.state === 'ready', `the export is ${record.state}: ${record.reason}`);
      return record.parts.reduce((sum, { rows }) => sum + rows, 0);
    },
  };
}

function newRecord(run: number): ExportRecord {
  const nowMs = systemClock.nowMs();
  const query = create(ExportQuerySchema, {
    ...{ what: ExportWhat.EVENTS, format: ExportFormat.PARQUET },
  });
  return {
    ...{ schemaVersion: 1, id: `run-${run}`, directoryId: 'own', customerId: 'bench' },
    query: toJson(ExportQuerySchema, query),
    ...{ state: 'pending', reason: '', createMs: nowMs, stateMs: nowMs, progressMs: nowMs },
    ...{ expireMs: 0, completeUntilMs: 0, partCount: 0, parts: [], hasFiles: true },
    ...{ isTold: false, areQueued: false, tries: 0, nextTryMs: 0, leaseEndMs: 0 },
  };
}
