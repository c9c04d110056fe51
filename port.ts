// Last of the composition, on top of foundation.ts: the roles that answer requests, their routes, and the port; the
// operator's pages on a port of their own. The pipeline answers no request: service.ts starts it.

import { join } from 'node:path';
import type { ConnectRouter } from '@connectrpc/connect';
import { createMcpRoute } from './agents/mcp-route.ts';
import { callerOptions, type Foundation, operatorOptions } from './foundation.ts';
import { isTrustedProxy } from './ingest/caller/caller.ts';
import type { LocateAddress } from './ingest/caller/geo.ts';
import { openSalts } from './ingest/cookieless/salt-bucket.ts';
import { type Ingest, startIngest } from './ingest/start.ts';
import { serviceAliases, shortPaths } from './platform/access/access-table.ts';
import {
  checkAccessFirst,
  createAuthInterceptor,
  credentialEndOf,
  principalOf,
} from './platform/access/auth-interceptor.ts';
import { buckets } from './platform/broker/buckets.ts';
import { createProfileQueue } from './platform/broker/queues/profile-queue.ts';
import { shardOf } from './platform/broker/topology.ts';
import type { Config } from './platform/config.ts';
import { createEmbedOrigins } from './platform/dashboards/embed-origins.ts';
import type { Entrance } from './platform/door/entrance.ts';
import { createHttp, type NodeHttpRoute } from './platform/http/http.ts';
import { createOperatorRoutes, type MetricsPage } from './platform/http/operator-routes.ts';
import { frontPage } from './platform/http/pages/front-page.ts';
import { modelsPage } from './platform/http/pages/models-page.ts';
import { createScriptPage } from './platform/http/pages/script-page.ts';
import { createWebPages } from './platform/http/pages/web-pages.ts';
import type { Readiness } from './platform/http/readiness.ts';
import { maxBodyBytes } from './platform/limits.ts';
import type { Shutdown } from './platform/shutdown.ts';
import { weekStartOf } from './platform/zones/weeks.ts';
import { insightMemoryBytes } from './query/calls/turn-bounds.ts';
import { createCompleteUntil } from './query/insights/run/complete-until.ts';
import { registerQuery } from './query/routes.ts';
import { createStatementRoute } from './query/statements/statement-route.ts';
import { type LiveViews, openLiveViews } from './query/watch/live-views.ts';
import { type Exports, openExports, startTurns } from './turns.ts';
import { createAttemptLog } from './webhooks/attempts/attempt-log.ts';
import { openManagement } from './webhooks/management/start.ts';

const requestGraceMs = 5_000;
const descriptorsFile = join(import.meta.dirname, 'proto', 'descriptors.binpb');

/** Shown on the operator's pages. */
interface OperatorPages {
  readiness: () => Promise<Readiness>;
  metrics: MetricsPage;
}

interface PortOptions extends OperatorPages {
  locate: LocateAddress | undefined;
  entrance: Entrance;
}

/** Starts the roles that answer requests, and opens the entrance; returns the base URL. */
export async function openPort(
  config: Config,
  foundation: Foundation,
  { locate, entrance, ...pages }: PortOptions,
  shutdown: Shutdown,
): Promise<string> {
  const { control, authenticate, log } = foundation;
  const ingest = config.roles.includes('ingest')
    ? await openIngest(config, foundation, locate, shutdown)
    : undefined;
  const hasDetails = config.operatorPort === undefined;
  const operatorRoutes = operatorRoutesOf(config, foundation, pages, hasDetails);
  const refusedConnections = foundation.metrics.counter(
    'millrace_refused_connections_total',
    'Connections closed at once: too many are open, in all or from one address, or the address has to wait.',
  );
  const live = config.roles.includes('query') ? openLive(config, foundation) : undefined;
  const exports = live ? await openExports(config, foundation, shutdown) : undefined;
  const webhooks = await openWebhookManagement(config, foundation);
  const http = createHttp({
    plainRequestRoute: ingest?.plainRequestRoute,
    nodeHttpRoutes: [
      ...(ingest ? [ingest.nodeHttpRoute, scriptPage(config)] : []),
      ...webhooks,
      ...(config.roles.includes('control') ? [control.oneClickRoute] : []),
      ...(exports?.routes ?? []),
      ...(live ? [agentsRoute(foundation), ...statementRoutes(foundation)] : []),
      operatorRoutes,
      ...webPages(config, foundation),
      frontPage,
      modelsPage,
    ],
    connect: {
      routes: (router) =>
        registerRoles(router, config, foundation, { ingest, live, exports, pages, shutdown }),
      interceptors: [createAuthInterceptor(authenticate), ...control.interceptors],
      readMaxBytes: maxBodyBytes,
    },
    serviceAliases,
    ...(ingest && { pathAliases: shortPaths(config.browserPaths.collectPath) }),
    isProxy: (address) => isTrustedProxy(config.trustedProxies, address),
    onRefusedConnection: () => refusedConnections.inc(),
    onBrokenConnection: (error) =>
      log.error({ err: error }, 'a connection was closed: its state was broken'),
  });
  await entrance.open(http.serve);
  shutdown.add('http', async () => {
    await entrance.leave();
    await http.drain(requestGraceMs);
  });
  // Before the port, which waits for requests in flight: a live view has no end of its own.
  shutdown.add('live views', async () => live?.close());
  foundation.listening.url = entrance.baseUrl;
  return entrance.baseUrl;
}

function scriptPage({ browserPaths }: Config): NodeHttpRoute {
  const file = join(import.meta.dirname, 'sdk', 'browser', 'millrace.js');
  return createScriptPage(file, browserPaths.scriptPaths);
}

/** Its tools are calls of this service's own methods. */
function agentsRoute({ listening, ...foundation }: Foundation): NodeHttpRoute {
  return createMcpRoute({ ...foundation, baseUrl: () => listening.url, descriptorsFile });
}

/** SQL over a project's own views; where there is no ClickHouse, there is none. */
function statementRoutes({ statements, authenticate, log }: Foundation): NodeHttpRoute[] {
  const { groups, turns, limits } = statements;
  return groups === undefined
    ? []
    : [createStatementRoute({ groups, turns, limits, authenticate, log })];
}

/** Where people can sign in. */
function webPages({ roles }: Config, { control, clock }: Foundation): NodeHttpRoute[] {
  const pages = roles.includes('control')
    ? createWebPages(join(import.meta.dirname, 'web'), createEmbedOrigins(control.shares, clock))
    : undefined;
  return pages === undefined ? [] : [pages];
}

/** The operator's pages on a port of their own: Prometheus is often elsewhere. The token is asked for there too. */
export async function openOperatorPort(
  config: Config,
  foundation: Foundation,
  pages: OperatorPages,
  entrance: Entrance,
  shutdown: Shutdown,
): Promise<void> {
  const http = createHttp({
    nodeHttpRoutes: [operatorRoutesOf(config, foundation, pages, true)],
    connect: { routes: () => {} },
    serviceAliases: new Map(),
  });
  await entrance.open(http.serve);
  shutdown.add('operator port', async () => {
    await entrance.leave();
    await http.drain(requestGraceMs);
  });
}

function operatorRoutesOf(
  { operatorToken: token }: Config,
  { onlyThisMachine }: Foundation,
  { readiness, metrics }: OperatorPages,
  hasDetails: boolean,
): NodeHttpRoute {
  return createOperatorRoutes({
    readiness,
    detailed: hasDetails ? { metrics, token, onlyThisMachine } : undefined,
    descriptorsFile,
  });
}

async function openIngest(
  config: Config,
  { nats, disk, authenticate, projects, clock, log, metrics }: Foundation,
  locate: LocateAddress | undefined,
  shutdown: Shutdown,
): Promise<Ingest> {
  const salts = await openSalts({ nats, clock, log });
  shutdown.add('salts', async () => salts.close());
  const recordOf = (projectId: string) => projects.get(projectId)?.record;
  const ingest = startIngest({
    // The limits of senders, and the shape of frames.
    ...config,
    ...{ nats, disk, salts, authenticate },
    caller: callerOptions(config, locate),
    collectPath: config.browserPaths.collectPath,
    compatOf: config.compat ? (projectId) => recordOf(projectId)?.compat ?? [] : undefined,
    senderSettingsOf: recordOf,
    clock,
    log,
    metrics,
  });
  shutdown.add('ingest', async () => ingest.close());
  return ingest;
}

async function openWebhookManagement(
  { roles, webhooks: settings, readsPerSecond }: Config,
  { nats, rooms, clickhouse, control, projects, clock, log }: Foundation,
): Promise<NodeHttpRoute[]> {
  if (!roles.includes('webhooks') || clickhouse === undefined) return [];
  const { ownerOf } = control.directory;
  const route = await openManagement({
    nats,
    room: rooms.roomOf(buckets.webhooks),
    access: {
      customers: control.customerAccess,
      placeOf: control.placeOf,
      organizations: control.directory,
      isProven: (customerId) => control.customers.get(customerId)?.emailVerified === true,
    },
    organizationOf: (projectId) => projects.get(projectId)?.record.organizationId,
    attempts: createAttemptLog({ clickhouse: clickhouse.first, clock, log, ownerOf }),
    box: control.box,
    ...{ settings, readsPerSecond },
    clock,
    log,
  });
  return [route];
}

function openLive({ shards }: Config, { nats, connectAgain, clock }: Foundation): LiveViews {
  return openLiveViews({
    nats,
    connect: connectAgain,
    shardOf: (projectId) => shardOf(projectId, shards),
    clock,
  });
}

interface Served {
  ingest: Ingest | undefined;
  live: LiveViews | undefined;
  exports: Exports | undefined;
  pages: OperatorPages;
  shutdown: Shutdown;
}

/** Every role's methods on the Connect router; the check of access wraps them all, so it comes last. */
function registerRoles(
  router: ConnectRouter,
  config: Config,
  foundation: Foundation,
  { ingest, live, exports, pages, shutdown }: Served,
): void {
  const { roles, shards, readsPerSecond, ingestProcesses, engineMemoryBytes } = config;
  const { nats, clickhouse, control, projects, authenticate, networkOf, ownerOf, clock, log } =
    foundation;
  ingest?.register(router);
  if (live !== undefined && clickhouse !== undefined) {
    const own = registerQuery(router, {
      live,
      clickhouse,
      clock,
      profiles: createProfileQueue({ nats, shards, clock, log }),
      erasures: { ...foundation.erasures, box: control.box, clock },
      nats,
      log,
      readerOf: principalOf,
      credentialEndOf,
      readsPerSecond,
      ownerOf,
      processes: ingestProcesses,
      insightMemoryBytes: insightMemoryBytes(engineMemoryBytes, ingestProcesses),
      timezoneOf: (id) => projects.get(id)?.record.timezone ?? 'UTC',
      weekStartOf: (id) => weekStartOf(projects.get(id)?.record),
      retainedFrom: foundation.retainedFrom,
      completeUntilMs: createCompleteUntil({ nats, shards, clock }),
      boards: {
        readDashboard: control.readDashboard,
        shares: control.shares,
        async checkPassword(stored, password, from) {
          const guesser = { kind: 'stranger', from } as const;
          return (await control.passwords.check(stored, password, guesser)).ok;
        },
        networkOf,
        annotationsOf: (projectId) => control.annotationsOf(projectId),
        runStatement: foundation.statements.onBoards.run,
      },
      goalsOf: (projectId) => control.goalsOf(projectId),
      findSegment: control.findSegment,
      operator: operatorOptions(shards, foundation, pages),
      ...(ingest && { looksUpPlaces: ingest.looksUpPlaces }),
    });
    startTurns(router, foundation, own, config.accounts.publicUrl, shutdown);
  }
  exports?.register(router);
  if (roles.includes('control')) control.register(router);
  checkAccessFirst(router, authenticate);
}
