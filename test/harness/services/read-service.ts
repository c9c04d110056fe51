// The read service alone, on real HTTP and a real engine, for tests: a header names the project that is read, where the
// product asks for a key.

import { type Client, createClient as createRpcClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { createClickHouse, type DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../../platform/clickhouse/groups.ts';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import { type Clock, systemClock } from '../../../platform/clock.ts';
import { startHttp } from '../../../platform/http/http.ts';
import { createLog, type Log } from '../../../platform/log.ts';
import type { RetainedFrom } from '../../../platform/retained/retained-from.ts';
import { ActivityService } from '../../../proto/gen/shared/activity/v1/activity_pb.js';
import { InsightsService } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { ProfilesService } from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import type { CompleteUntil } from '../../../query/insights/run/complete-until.ts';
import type { SourceName } from '../../../query/insights/sources/ladder.ts';
import type { OpenStreams } from '../../../query/open-streams.ts';
import { registerQuery } from '../../../query/routes.ts';
import type { FindSegment } from '../../../query/segments/named-segments.ts';
import type { Turns } from '../../../query/turns.ts';

export interface ReadService {
  baseUrl: string;
  /** A client of the service's database. */
  clickhouse: DatabaseClient;
  /** Generated clients that read `projectId`; binary, so that every type is exact. */
  activity(projectId: string): Client<typeof ActivityService>;
  profiles(projectId: string): Client<typeof ProfilesService>;
  insights(projectId: string): Client<typeof InsightsService>;
  /** POSTs JSON to a method, for example `shared.activity.v1.ActivityService/List`. */
  post(
    projectId: string,
    method: string,
    body: unknown,
  ): Promise<{ status: number; text: string; headers: Headers }>;
  stop(): Promise<void>;
}

interface ReadServiceOptions {
  clickhouseUrl: string;
  readsPerSecond?: number;
  clock?: Clock;
  /** A clock that never goes back; the process's unless given. */
  nowMs?: () => number;
  /** Patient unless given: on a busy machine a test's large read takes longer than users wait. */
  maxReadMs?: number;
  maxQuestionMs?: number;
  storeSilenceMs?: number;
  log?: Log;
  /** Stands between the service's reads and the store. */
  reader?: (store: RowReader) => RowReader;
  /** Whether `reader` is given the looks at the engine's load, too: a busy machine makes them, which no test counts. */
  readerSeesLooks?: boolean;
  turns?: Turns;
  insightTurns?: Turns;
  streams?: OpenStreams;
  insightMemoryBytes?: number;
  /** The zone of a project's questions that name none; UTC unless given. */
  timezoneOf?: (projectId: string) => string;
  /** Their weeks begin on Monday unless given. */
  weekStartOf?: (projectId: string) => number;
  /** Before which moment a project has no events; never unless given. */
  retainedFrom?: RetainedFrom;
  /** None unless given. */
  findSegment?: FindSegment;
  /** The moment before asking unless given: tests store their rows themselves. */
  completeUntilMs?: CompleteUntil;
  /** The only sources of questions besides rows of events; all unless given. */
  ladder?: readonly SourceName[];
}

const patientReadMs = 120_000;

export async function startReadService(options: ReadServiceOptions): Promise<ReadService> {
  const log = options.log ?? createLog('silent');
  const clickhouse = createClickHouse(options.clickhouseUrl, { log, maxConnections: 10 });
  const reader = readerOf(clickhouse, options);
  const http = await startHttp({
    host: '127.0.0.1',
    port: 0,
    nodeHttpRoutes: [],
    serviceAliases: new Map(),
    connect: {
      routes: (router) =>
        registerQuery(router, {
          clickhouse: oneGroup({ select: reader.select, isReady: () => clickhouse.isReady() }),
          ...(options.storeSilenceMs !== undefined && { storeSilenceMs: options.storeSilenceMs }),
          clock: options.clock ?? systemClock,
          log,
          readsPerSecond: options.readsPerSecond ?? 0,
          ...(options.nowMs && { nowMs: options.nowMs }),
          maxReadMs: options.maxReadMs ?? patientReadMs,
          ...(options.maxQuestionMs !== undefined && { maxQuestionMs: options.maxQuestionMs }),
          ...(options.turns && { turns: options.turns }),
          ...(options.insightTurns && { insightTurns: options.insightTurns }),
          ...(options.insightMemoryBytes !== undefined && {
            insightMemoryBytes: options.insightMemoryBytes,
          }),
          timezoneOf: options.timezoneOf ?? (() => 'UTC'),
          ...(options.weekStartOf && { weekStartOf: options.weekStartOf }),
          completeUntilMs: options.completeUntilMs ?? (async () => Date.now()),
          ...(options.retainedFrom && { retainedFrom: options.retainedFrom }),
          ...(options.findSegment && { findSegment: options.findSegment }),
          ...(options.streams && { streams: options.streams }),
          ...(options.ladder && { ladder: options.ladder }),
          readerOf: ({ requestHeader }) => {
            const projectId = requestHeader.get('x-test-project') ?? '';
            return { projectId, keyId: projectId };
          },
        }),
    },
  });
  const baseUrl = `http://127.0.0.1:${http.port}`;
  const transport = (projectId: string) =>
    createConnectTransport({
      baseUrl,
      httpVersion: '1.1',
      useBinaryFormat: true,
      interceptors: [
        (next) => (request) => {
          request.header.set('x-test-project', projectId);
          return next(request);
        },
      ],
    });
  return {
    baseUrl,
    clickhouse,
    activity: (projectId) => createRpcClient(ActivityService, transport(projectId)),
    profiles: (projectId) => createRpcClient(ProfilesService, transport(projectId)),
    insights: (projectId) => createRpcClient(InsightsService, transport(projectId)),
    async post(projectId, method, body) {
      const response = await fetch(`${baseUrl}/${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-test-project': projectId },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: response.status, text: await response.text(), headers: response.headers };
    },
    async stop() {
      await http.close(0);
      await clickhouse.close();
    },
  };
}

function readerOf(
  store: RowReader,
  { reader, readerSeesLooks = false }: ReadServiceOptions,
): RowReader {
  const between = reader?.(store) ?? store;
  if (readerSeesLooks) return between;
  return {
    select(select, onRow) {
      const isLook = select.sql.includes('FROM system.processes');
      return (isLook ? store : between).select(select, onRow);
    },
  };
}
