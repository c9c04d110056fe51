// The ingest service alone, on real HTTP and a real broker, for tests: with the product's routes in front, and twice
// more with fewer of them, so that fast paths and reference paths can be compared.

import { BlockList } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createApiKey,
  createProject,
  type ProjectStore,
} from '../../../control/projects/project-record.ts';
import { openSalts } from '../../../ingest/cookieless/salt-bucket.ts';
import { type IngestOptions, startIngest } from '../../../ingest/start.ts';
import { serviceAliases, shortPaths } from '../../../platform/access/access-table.ts';
import {
  checkAccessFirst,
  createAuthInterceptor,
} from '../../../platform/access/auth-interceptor.ts';
import { type Authenticate, createAuthenticate } from '../../../platform/access/authenticate.ts';
import {
  ProjectDirectory,
  type ProjectRecord,
  readProject,
} from '../../../platform/access/projects.ts';
import { buckets } from '../../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../../platform/broker/nats.ts';
import { openBucket } from '../../../platform/broker/record-bucket.ts';
import { ensureTopology } from '../../../platform/broker/topology.ts';
import { watchBucket } from '../../../platform/broker/watched-bucket.ts';
import { dayMs, systemClock } from '../../../platform/clock.ts';
import { startHttp } from '../../../platform/http/http.ts';
import { maxBodyBytes } from '../../../platform/limits.ts';
import { createLog } from '../../../platform/log.ts';
import { createMetrics, type Metrics } from '../../../platform/metrics.ts';
import { decodeFrame, type FrameRequest } from '../../../proto/wire/frame.ts';
import { startBroker } from '../servers/broker.ts';
import type { ChildServer } from '../servers/child-server.ts';

export interface IngestService {
  baseUrl: string;
  /** The same parts without plain requests: node:http reads every request. */
  nodeUrl: string;
  /** The same parts behind the Connect router alone. */
  routerUrl: string;
  projectId: string;
  publicKey: string;
  privateKey: string;
  broker: ChildServer;
  nats: NatsConnection;
  projects: ProjectStore;
  metrics: Metrics;
  /** What requests hold on all three. */
  heldBytes(): number;
  /** The requests of every message in the broker, in order. */
  queued(stream?: string): Promise<FrameRequest[]>;
  stop(): Promise<void>;
}

export async function startIngestService(
  options: Partial<IngestOptions> & {
    eventsMaxBytes?: number;
    arrival?: { requestMs: number; headersMs: number };
  } = {},
): Promise<IngestService> {
  const log = createLog('silent');
  const clock = options.clock ?? systemClock;
  const metrics = createMetrics();
  const broker = await startBroker();
  const nats = await connectBroker(broker.url, log);
  const eventsMaxBytes = options.eventsMaxBytes ?? 256 * 1_048_576;
  await ensureTopology(nats, { eventsMaxBytes, shards: 1 });
  const bucket = await openBucket(nats, buckets.projects, readProject);
  const projects = await watchBucket<ProjectRecord>(nats, bucket, { log });
  const project = await createProject(projects, { organizationId: 'o', displayName: 'p' }, clock);
  const made = await createApiKey(projects, project.id, { kind: 'private' }, clock);
  const authenticate = createAuthenticate(new ProjectDirectory(projects));
  const salts = await openSalts({ nats, clock, log });
  const ingest = startIngest({
    nats,
    disk: { isScarce: () => false },
    salts,
    shards: 1,
    authenticate,
    caller: {
      trustedProxies: new BlockList(),
      proxyHops: 0,
      botScoreHeader: 'cf-bot-score',
      verifiedBotHeader: 'cf-verified-bot',
    },
    collectPath,
    compatOf: (projectId) => projects.get(projectId)?.record.compat ?? [],
    senderSettingsOf: (projectId) => projects.get(projectId)?.record,
    eventsPerSecond: 0,
    eventsBurst: 1,
    publicMaxAgeMs: 30 * dayMs,
    publishDeadlineMs: 5_000,
    frameLz4: options.frameLz4 ?? true,
    clock,
    log,
    metrics,
    ...options,
  });
  const serve = (front: Front) => serveBehind(front, ingest, authenticate, options.arrival);
  const servers = await Promise.all([serve('plain requests'), serve('node:http'), serve('router')]);
  const [plainRequests, nodeHttp, router] = servers;
  return {
    baseUrl: `http://127.0.0.1:${plainRequests.port}`,
    nodeUrl: `http://127.0.0.1:${nodeHttp.port}`,
    routerUrl: `http://127.0.0.1:${router.port}`,
    projectId: project.id,
    publicKey: project.keys[0]?.publicKey ?? '',
    privateKey: made.kind === 'created' ? made.key.raw : '',
    broker,
    nats,
    projects,
    metrics,
    heldBytes: () => servers.reduce((sum, server) => sum + server.heldBytes(), 0),
    queued: (stream = 'EVENTS_0') => queuedRequests(nats, stream),
    async stop() {
      await Promise.all(servers.map((server) => server.close(0)));
      ingest.close();
      salts.close();
      projects.close();
      await nats.close();
      await broker.stop();
    },
  };
}

type Front = 'plain requests' | 'node:http' | 'router';

function serveBehind(
  front: Front,
  ingest: ReturnType<typeof startIngest>,
  authenticate: Authenticate,
  arrival: { requestMs: number; headersMs: number } | undefined,
) {
  return startHttp({
    host: '127.0.0.1',
    port: 0,
    nodeHttpRoutes: front === 'router' ? [] : [ingest.nodeHttpRoute],
    ...(front === 'plain requests' && { plainRequestRoute: ingest.plainRequestRoute }),
    connect: {
      routes: (router) => {
        ingest.register(router);
        checkAccessFirst(router, authenticate);
      },
      interceptors: [createAuthInterceptor(authenticate)],
      readMaxBytes: maxBodyBytes,
    },
    serviceAliases,
    pathAliases: shortPaths(collectPath),
    ...(arrival && { arrival }),
  });
}

const collectPath = '/m';

/** Freezes the broker and resolves once it answers nothing more: a signal takes its time. */
export async function freeze(broker: ChildServer, nats: NatsConnection): Promise<void> {
  broker.pause();
  const answers = () => Promise.race([nats.flush().then(() => true), delay(50).then(() => false)]);
  while (await answers());
}

async function queuedRequests(nats: NatsConnection, stream: string): Promise<FrameRequest[]> {
  const manager = await nats.jetstreamManager();
  const { first_seq, last_seq, messages } = (await manager.streams.info(stream)).state;
  const requests: FrameRequest[] = [];
  for (let seq = first_seq; messages > 0 && seq <= last_seq; seq++) {
    const { data } = await manager.streams.getMessage(stream, { seq });
    requests.push(...decodeFrame(data));
  }
  return requests;
}
