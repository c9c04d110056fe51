// What a process that serves requests stands on, and the roles and the port on top of it: the same for the service in
// one process and for each member of several. A table of contents; what each part does is in its own folder.

import { join } from 'node:path';
import { type ConnectRouter, createContextValues } from '@connectrpc/connect';
import { callerAddressKey } from './control/caller-address.ts';
import { startControl } from './control/start.ts';
import { CallerReader } from './ingest/caller/caller.ts';
import { type LocateAddress, openGeo } from './ingest/caller/geo.ts';
import { openSalts } from './ingest/cookieless/salt-bucket.ts';
import { peerAddressKey } from './ingest/rpc/connect-router.ts';
import { type Ingest, startIngest } from './ingest/start.ts';
import {
  checkAccessFirst,
  createAuthInterceptor,
  principalOf,
} from './platform/access/auth-interceptor.ts';
import { createAuthenticate, serviceAliases } from './platform/access/authenticate.ts';
import { ProjectDirectory, readProject } from './platform/access/projects.ts';
import { openBucket } from './platform/broker/kv.ts';
import { watchBucket } from './platform/broker/kv-watch.ts';
import { connectBroker, followConnection } from './platform/broker/nats.ts';
import { createProfileQueue } from './platform/broker/profile-queue.ts';
import { buckets } from './platform/broker/topology.ts';
import {
  clickhouseReady,
  createClickHouse,
  requireClickHouse,
} from './platform/clickhouse/clickhouse.ts';
import { systemClock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { EngineUrls } from './platform/engines/engines.ts';
import { type HttpOptions, startHttp } from './platform/http/http.ts';
import {
  createOperatorRoutes,
  type MetricsPage,
  type ReadinessCheck,
} from './platform/http/operator-routes.ts';
import { maxBodyBytes } from './platform/limits.ts';
import type { Log } from './platform/log.ts';
import { createMetrics } from './platform/metrics.ts';
import type { Shutdown } from './platform/shutdown.ts';
import { allOrProblems } from './platform/start-problems.ts';
import { registerQuery } from './query/routes.ts';

const requestGraceMs = 5_000;
// Inserts, reads of as many callers at once, and room for the probes between them.
const clickhouseConnections = 16;

export type Connections = Awaited<ReturnType<typeof connectEngines>>;

export async function connectEngines(
  { natsUrl, clickhouseUrl }: EngineUrls,
  log: Log,
  shutdown: Shutdown,
) {
  const clickhouse = createClickHouse(clickhouseUrl, {
    log,
    maxConnections: clickhouseConnections,
  });
  shutdown.add('clickhouse connection', () => clickhouse.close());
  const [nats] = await allOrProblems([
    connectBroker(natsUrl, log),
    requireClickHouse(clickhouse, clickhouseUrl),
  ]);
  shutdown.add('broker connection', () => nats.close());
  return { nats, clickhouse };
}

export type Foundation = Awaited<ReturnType<typeof layFoundation>>;

/** Who may call, on engines that have their streams, buckets and tables. */
export async function layFoundation(
  config: Config,
  { nats, clickhouse }: Connections,
  log: Log,
  shutdown: Shutdown,
) {
  const bucket = await openBucket(nats, buckets.projects, readProject);
  const projects = await watchBucket(nats, bucket, { log });
  shutdown.add('projects', () => projects.close());
  const clock = systemClock;
  const listening = { url: '' };
  const control = await startControl({
    connection: nats,
    projects,
    dataDir: config.dataDir,
    clock,
    log,
    settings: config.accounts,
    publicUrl: () => config.accounts.publicUrl ?? listening.url,
  });
  shutdown.add('accounts', () => control.close());
  const authenticate = createAuthenticate(new ProjectDirectory(projects), control.customerAccess);
  const metrics = createMetrics({ processMetrics: true });
  return { nats, projects, clickhouse, control, listening, authenticate, metrics, clock, log };
}

export function checksOf({ nats, clickhouse }: Foundation): ReadinessCheck[] {
  const broker = followConnection(nats);
  return [
    // A round trip: the connection to a frozen broker looks well for seconds.
    { name: 'broker', check: () => broker.connected() && nats.flush().then(() => true) },
    { name: 'clickhouse', check: () => clickhouseReady(clickhouse) },
  ];
}

/** What the operator's pages show, and what tells where callers are. */
export interface ServeOptions {
  locate: LocateAddress | undefined;
  checks: readonly ReadinessCheck[];
  metrics: MetricsPage;
}

/** Starts the roles that answer requests, and listens; returns the base URL. */
export async function serve(
  config: Config,
  foundation: Foundation,
  options: ServeOptions,
  shutdown: Shutdown,
): Promise<string> {
  const ingest = config.roles.includes('ingest')
    ? await openIngest(config, foundation, options.locate, shutdown)
    : undefined;
  const http = await startHttp({
    host: config.host,
    port: config.port,
    ...routesOf(config, foundation, ingest, options),
  });
  shutdown.add('http', () => http.close(requestGraceMs));
  const baseUrl = baseUrlOf(config.host, http.port);
  foundation.listening.url = baseUrl;
  return baseUrl;
}

async function openIngest(
  config: Config,
  foundation: Foundation,
  locate: LocateAddress | undefined,
  shutdown: Shutdown,
): Promise<Ingest> {
  const salts = await openSalts(foundation);
  shutdown.add('salts', async () => salts.close());
  const ingest = startIngest({
    ...config,
    ...foundation,
    salts,
    caller: { ...config, locate },
  });
  shutdown.add('ingest', async () => ingest.close());
  return ingest;
}

/** The hot route first, then the operator's, then the Connect router. */
function routesOf(
  config: Config,
  foundation: Foundation,
  ingest: Ingest | undefined,
  { checks, metrics }: ServeOptions,
): Omit<HttpOptions, 'host' | 'port'> {
  const { control, authenticate } = foundation;
  const callers = new CallerReader(config);
  const operatorRoutes = createOperatorRoutes({
    checks,
    metrics,
    descriptorsFile: join(import.meta.dirname, 'proto', 'descriptors.binpb'),
  });
  const routes = (router: ConnectRouter): void => {
    ingest?.register(router);
    if (config.roles.includes('query')) {
      const { readsPerSecond, shards } = config;
      const profiles = createProfileQueue({ ...foundation, shards });
      registerQuery(router, { ...foundation, profiles, readsPerSecond, readerOf: principalOf });
    }
    if (config.roles.includes('control')) control.register(router);
    checkAccessFirst(router, authenticate);
  };
  return {
    nodeHttpRoutes:
      ingest === undefined ? [operatorRoutes] : [ingest.nodeHttpRoute, operatorRoutes],
    ...(ingest !== undefined && { plainRequestRoute: ingest.plainRequestRoute }),
    connect: {
      routes,
      interceptors: [createAuthInterceptor(authenticate), ...control.interceptors],
      readMaxBytes: maxBodyBytes,
      contextValues: (request) => {
        const peerAddress = request.socket.remoteAddress;
        const address = callers.address({ headers: request.headers, peerAddress });
        return createContextValues()
          .set(peerAddressKey, peerAddress)
          .set(callerAddressKey, address);
      },
    },
    serviceAliases,
  };
}

/** Undefined without a database; rejects where the file is none. */
export async function openLocator({ geoDatabase }: Config): Promise<LocateAddress | undefined> {
  return geoDatabase === undefined ? undefined : openGeo(geoDatabase);
}

export function baseUrlOf(host: string, port: number): string {
  return `http://${displayHost(host)}:${port}`;
}

function displayHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
