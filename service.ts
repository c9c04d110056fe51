// The composition: engines, what every role stands on, the roles that are asked for, and one port. A table of contents;
// what each part does is in its own folder.

import { createServer } from 'node:net';
import { join } from 'node:path';
import { type ConnectRouter, createContextValues } from '@connectrpc/connect';
import { callerAddressKey } from './control/caller-address.ts';
import { type Demo, ensureDemo, readDemoRecord } from './control/demo.ts';
import { type DemoAdmin, ensureDemoAdmin } from './control/demo-admin.ts';
import { startControl } from './control/start.ts';
import { CallerReader } from './ingest/caller.ts';
import { type LocateAddress, openGeo } from './ingest/geo.ts';
import { openSalts } from './ingest/salt-bucket.ts';
import { peerAddressKey } from './ingest/service.ts';
import { type Ingest, startIngest } from './ingest/start.ts';
import { type Pipeline, startPipeline } from './pipeline/start.ts';
import { createAuthenticate, serviceAliases } from './platform/auth.ts';
import {
  checkAccessFirst,
  createAuthInterceptor,
  principalOf,
} from './platform/auth-interceptor.ts';
import { clickhouseReady, createClickHouse, requireClickHouse } from './platform/clickhouse.ts';
import { systemClock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import { lockDataDir } from './platform/data-lock.ts';
import { eventsDiskBudget, requireBrokerBinary } from './platform/embedded-broker.ts';
import { startEngines } from './platform/engines.ts';
import { type HttpOptions, startHttp } from './platform/http.ts';
import { openBucket } from './platform/kv.ts';
import { watchBucket } from './platform/kv-watch.ts';
import { maxBodyBytes } from './platform/limits.ts';
import type { Log } from './platform/log.ts';
import { createMetrics } from './platform/metrics.ts';
import { connectBroker, followConnection } from './platform/nats.ts';
import {
  createOperatorRoutes,
  type ReadinessCheck,
  untilReady,
} from './platform/operator-routes.ts';
import { createProfileQueue } from './platform/profile-queue.ts';
import { ProjectDirectory, readProject } from './platform/projects.ts';
import { configureProtobufText } from './platform/protobuf-text.ts';
import type { Shutdown } from './platform/shutdown.ts';
import { allOrProblems } from './platform/start-problems.ts';
import { buckets, ensureTopology } from './platform/topology.ts';
import { registerQuery } from './query/routes.ts';
import { migrate } from './sql/migrate.ts';

export interface Service {
  baseUrl: string;
  demo: Demo & DemoAdmin;
}

const requestGraceMs = 5_000;
// Loading what was seen in two days of a busy shard takes seconds.
const readyTimeoutMs = 30_000;
// Inserts, reads of as many callers at once, and room for the probes between them.
const clickhouseConnections = 16;

/** Everything up and answering; throws an Error with one sentence for the user otherwise. */
export async function startService(config: Config, log: Log, shutdown: Shutdown): Promise<Service> {
  configureProtobufText();
  const [locate] = await allOrProblems([
    openLocator(config),
    requireFreePort(config),
    requireBroker(config),
    takeDataDir(config.dataDir, shutdown),
  ]);
  const foundation = await layFoundation(config, log, shutdown);
  const { control } = foundation;
  const demoParts = { ...foundation, ...control, dataDir: config.dataDir };
  const demo = await ensureDemo({
    ...demoParts,
    instance: await openBucket(foundation.nats, buckets.instance, readDemoRecord),
  });
  const admin = await ensureDemoAdmin(demoParts, demo.organizationId);
  const roles = await startRoles(config, foundation, locate, shutdown);
  const checks = checksOf(foundation, roles);
  const http = await startHttp({
    host: config.host,
    port: config.port,
    ...routesOf(config, foundation, roles, checks),
  });
  shutdown.add('http', () => http.close(requestGraceMs));
  if (!(await untilReady(checks, readyTimeoutMs))) {
    log.warn('started, but not everything is ready: /readyz tells what is not');
  }
  const baseUrl = `http://${displayHost(config.host)}:${http.port}`;
  foundation.listening.url = baseUrl;
  return { baseUrl, demo: { ...demo, ...admin } };
}

type Foundation = Awaited<ReturnType<typeof layFoundation>>;

/** What every role stands on: the engines with their streams, buckets and tables, and who may call. */
async function layFoundation(config: Config, log: Log, shutdown: Shutdown) {
  const { natsUrl, clickhouseUrl } = await startEngines(config, log, shutdown);
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
  const { shards, eventsMaxBytes = eventsDiskBudget(config.dataDir) } = config;
  await ensureTopology(nats, { eventsMaxBytes, shards });
  const projects = await watchBucket(nats, await openBucket(nats, buckets.projects, readProject), {
    log,
  });
  shutdown.add('projects', () => projects.close());
  await migrate(clickhouse, log);
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

interface Roles {
  pipeline: Pipeline | undefined;
  ingest: Ingest | undefined;
}

async function startRoles(
  config: Config,
  foundation: Foundation,
  locate: LocateAddress | undefined,
  shutdown: Shutdown,
): Promise<Roles> {
  const roles: Roles = { pipeline: undefined, ingest: undefined };
  if (config.roles.includes('pipeline')) {
    const { shards, pipelineThreads: threads, seenMaxBytes } = config;
    const pipeline = startPipeline({ ...foundation, shards, threads, seenMaxBytes });
    shutdown.add('pipeline', () => pipeline.stop());
    roles.pipeline = pipeline;
  }
  if (config.roles.includes('ingest')) {
    const salts = await openSalts(foundation);
    shutdown.add('salts', async () => salts.close());
    const ingest = startIngest({
      ...config,
      ...foundation,
      salts,
      caller: { ...config, locate },
    });
    shutdown.add('ingest', async () => ingest.close());
    roles.ingest = ingest;
  }
  return roles;
}

function checksOf({ nats, clickhouse }: Foundation, { pipeline }: Roles): ReadinessCheck[] {
  const broker = followConnection(nats);
  const checks: ReadinessCheck[] = [
    // A round trip: the connection to a frozen broker looks well for seconds.
    { name: 'broker', check: () => broker.connected() && nats.flush().then(() => true) },
    { name: 'clickhouse', check: () => clickhouseReady(clickhouse) },
  ];
  if (pipeline !== undefined) checks.push({ name: 'pipeline', check: () => pipeline.ready() });
  return checks;
}

/** The hot route first, then the operator's, then the Connect router. */
function routesOf(
  config: Config,
  foundation: Foundation,
  { ingest }: Roles,
  checks: readonly ReadinessCheck[],
): Omit<HttpOptions, 'host' | 'port'> {
  const { control, authenticate, metrics } = foundation;
  const callers = new CallerReader(config);
  const operatorRoutes = createOperatorRoutes({
    registry: metrics.registry,
    checks,
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
    hotRoutes: ingest === undefined ? [operatorRoutes] : [ingest.hotRoute, operatorRoutes],
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

async function openLocator({ geoDatabase }: Config): Promise<LocateAddress | undefined> {
  return geoDatabase === undefined ? undefined : openGeo(geoDatabase);
}

async function requireBroker({ natsUrl, natsServerBinary }: Config): Promise<void> {
  if (natsUrl === undefined) requireBrokerBinary(natsServerBinary);
}

async function takeDataDir(dataDir: string, shutdown: Shutdown): Promise<void> {
  const unlock = lockDataDir(dataDir);
  shutdown.add('lock', async () => unlock());
}

// Asked before the engines start: the usual mistake should cost no time and leave nothing behind.
async function requireFreePort({ host, port }: Config): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE'
          ? `port ${port} on ${host} is taken: stop what uses it, or choose another with --port`
          : `port ${port} on ${host} cannot be used: ${error.code}`;
      reject(new Error(why));
    });
    probe.listen(port, host, resolve);
  });
  await new Promise((resolve) => probe.close(resolve));
}

function displayHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
