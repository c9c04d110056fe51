// Second of the composition, called by main.ts: engines with their streams and tables, the demo project, the pipeline,
// and the port, served by this process or by members (member.ts). Builds on foundation.ts and port.ts.

import { createServer } from 'node:net';
import { join } from 'node:path';
import { type DemoAdmin, ensureDemoAdmin } from './control/demo/demo-admin.ts';
import { type Demo, ensureDemo, readDemoRecord } from './control/demo/demo-project.ts';
import {
  connectEngines,
  diskReserve,
  engineChecks,
  type Foundation,
  layFoundation,
} from './foundation.ts';
import { type Pipeline, startPipeline } from './pipeline/start.ts';
import { buckets } from './platform/broker/buckets.ts';
import { leaderGraceMs } from './platform/broker/cluster/leader-info.ts';
import { openBucket } from './platform/broker/record-bucket.ts';
import { namingSlowBroker } from './platform/broker/start/slow-broker.ts';
import type { Config } from './platform/config.ts';
import { lockDataDir, refuseHalfRestored } from './platform/engines/data-lock.ts';
import { requireBrokerBinary } from './platform/engines/embedded-broker.ts';
import { type EngineUrls, startEngines } from './platform/engines/engines.ts';
import type { MetricsPage } from './platform/http/operator-routes.ts';
import { configureProtobufText } from './platform/http/protobuf-text.ts';
import { shareReadiness, untilReady } from './platform/http/readiness.ts';
import { createStartPort, type StartPort } from './platform/http/start-port.ts';
import type { Log } from './platform/log.ts';
import { startMembers } from './platform/members/members.ts';
import { metricsText } from './platform/members/metrics-of-processes.ts';
import { keepPrivate } from './platform/secrets/private-directory.ts';
import type { Shutdown } from './platform/shutdown.ts';
import { allOrProblems } from './platform/start-problems.ts';
import { zones } from './platform/zones/zones.ts';
import { baseUrlOf, openLocator, openOperatorPort, openPort } from './port.ts';
import { readsAtOnce } from './query/calls/turn-bounds.ts';
import { pipelineOptions, prepareBroker, prepareTables } from './stores.ts';
import { startWebhooks, type Webhooks } from './webhooks/start.ts';

export interface Service {
  baseUrl: string;
  /** Opens the demo with one click, once; absent where others may reach the service. */
  openUrl?: string;
  demo: Demo & DemoAdmin;
}

// A batch that a killed writer had promised is stored first, which takes seconds on a busy machine.
const readyTimeoutMs = 30_000;
// Requests in flight may take five seconds, queued mails another five.
const memberGraceMs = 12_000;
const MiB = 1_048_576;

/** Resolves when everything is up and answers; throws an Error with one sentence for the user otherwise. */
export async function startService(config: Config, log: Log, shutdown: Shutdown): Promise<Service> {
  configureProtobufText();
  const [locate] = await allOrProblems([
    openLocator(config),
    requireFreePort(config, '--port'),
    requireFreeOperatorPort(config),
    requireBroker(config),
    takeDataDir(config.dataDir, log, shutdown),
  ]);
  const urls = await startEngines(
    { ...config, engineReads: readsAtOnce(config.ingestProcesses) },
    log,
    shutdown,
  );
  log.info({ timeZones: zones.versions }, 'rules of time zones: the newer ones of two sources');
  const connections = await connectEngines(urls, config, log, shutdown);
  await namingSlowBroker(
    'its messages are compared with the tables',
    prepareBroker(config, connections, log),
  );
  const foundation = await namingSlowBroker(
    'records are read',
    layFoundation(config, connections, log, shutdown),
  );
  const startPort = await migrateTables(config, urls, foundation, shutdown);
  const demo = await namingSlowBroker(
    'the demo project is made',
    ensureDemoWithAdmin(config, foundation),
  );
  const pipeline = runPipeline(config, foundation, shutdown);
  const checks = engineChecks(foundation, config);
  const graceMs = leaderGraceMs(foundation.nats);
  if (pipeline !== undefined) {
    checks.push({ name: 'pipeline', graceMs, check: () => pipeline.ready() });
  }
  const webhooks = await namingSlowBroker(
    'webhooks are started',
    runWebhooks(config, foundation, shutdown),
  );
  if (webhooks !== undefined) {
    checks.push({ name: 'webhooks', graceMs, check: () => webhooks.ready() });
  }
  const readiness = shareReadiness(checks);
  const own = { locate, readiness, metrics: foundation.metrics.registry };
  await startPort.close();
  const { baseUrl, metrics } =
    config.ingestProcesses === 1
      ? { ...own, baseUrl: await openPort(config, foundation, own, shutdown) }
      : await serveByMembers(config, foundation, { pipeline, webhooks, urls }, shutdown);
  await openOperatorPort(config, foundation, { readiness, metrics }, shutdown);
  if (!(await untilReady(checks, readyTimeoutMs))) {
    log.warn('started, but not everything is ready: /readyz?verbose tells what is not');
  }
  const openUrl = await offerDemo(config, foundation, { baseUrl, demo }, shutdown);
  return { baseUrl, demo, ...(openUrl !== undefined && { openUrl }) };
}

/** Answers what serves the ports where tables had to change, until it is closed. */
async function migrateTables(
  config: Config,
  urls: EngineUrls,
  foundation: Foundation,
  shutdown: Shutdown,
): Promise<StartPort> {
  const startPort = createStartPort(config.host, [config.port, config.operatorPort]);
  shutdown.add('port of the start', () => startPort.close());
  await namingSlowBroker(
    'promised batches are read',
    prepareTables(config, urls, foundation, () => startPort.open()),
  );
  startPort.hasMigrated();
  return startPort;
}

/** The token is in the fragment, which a browser sends to nobody. */
async function offerDemo(
  { roles }: Config,
  { control }: Foundation,
  { baseUrl, demo }: Service,
  shutdown: Shutdown,
): Promise<string | undefined> {
  if (!roles.includes('control')) return undefined;
  const opening = await control.issueOpening(demo.projectId);
  if (opening === undefined) return undefined;
  shutdown.add('the one click into the demo', () => opening.end());
  return `${baseUrl}/open#${opening.token}`;
}

async function ensureDemoWithAdmin(
  { dataDir }: Config,
  foundation: Foundation,
): Promise<Demo & DemoAdmin> {
  const { nats, projects, control, clock, log } = foundation;
  const { customers, organizations, passwords } = control;
  const instance = await openBucket(nats, buckets.instance, readDemoRecord);
  const demo = await ensureDemo({ instance, organizations, projects, dataDir, clock, log });
  const admin = await ensureDemoAdmin(
    { customers, organizations, passwords, dataDir, clock, log },
    demo.organizationId,
  );
  return { ...demo, ...admin };
}

function runPipeline(
  config: Config,
  foundation: Foundation,
  shutdown: Shutdown,
): Pipeline | undefined {
  const { clickhouse } = foundation;
  if (!config.roles.includes('pipeline') || clickhouse === undefined) return undefined;
  const pipeline = startPipeline(pipelineOptions(config, foundation, clickhouse));
  shutdown.add('pipeline', () => pipeline.stop());
  return pipeline;
}

async function runWebhooks(
  { roles, webhooks: settings, accounts }: Config,
  { nats, clickhouse, webhookBucket, webhooks, control, listening, ...ground }: Foundation,
  shutdown: Shutdown,
): Promise<Webhooks | undefined> {
  if (!roles.includes('webhooks') || clickhouse === undefined) return undefined;
  const started = await startWebhooks({
    nats,
    clickhouse: clickhouse.first,
    bucket: webhookBucket,
    directory: webhooks,
    secretBox: control.box,
    settings,
    mail: control.organizationMail,
    publicUrl: () => accounts.publicUrl ?? listening.url,
    metrics: ground.metrics,
    clock: ground.clock,
    log: ground.log,
  });
  shutdown.add('sending of webhooks', () => started.stop());
  return started;
}

/** What members ask for, or reach. */
interface Served {
  pipeline: Pipeline | undefined;
  webhooks: Webhooks | undefined;
  urls: EngineUrls;
}

/** Starts members, which serve the port; this process keeps the engines and the pipeline. */
async function serveByMembers(
  config: Config,
  { metrics, listening, log }: Foundation,
  { pipeline, webhooks, urls }: Served,
  shutdown: Shutdown,
): Promise<{ baseUrl: string; metrics: MetricsPage }> {
  // Chosen once, because a member that is started again must get the same port.
  const port = await requireFreePort(config, '--port');
  const ownMetrics = async () => {
    return { process: 'main', metrics: await metrics.registry.getMetricsAsJSON() };
  };
  const page: MetricsPage = {
    contentType: metrics.registry.contentType,
    async metrics() {
      const answers = await members.ask('metrics');
      const others = answers.map(({ place, answer }) => {
        return { process: `ingest-${place}`, metrics: answer };
      });
      return metricsText([await ownMetrics(), ...others]);
    },
  };
  const members = await startMembers({
    count: config.ingestProcesses,
    script: join(import.meta.dirname, 'main.js'),
    // All that a member shares with the others by its count: statements at once, and memory.
    args: [
      ...['--port', String(port), '--data', config.dataDir, '--roles', config.roles.join(',')],
      ...['--ingest', String(config.ingestProcesses)],
    ],
    env: {
      NATS_URL: urls.natsUrl,
      ...(urls.clickhouseUrl !== undefined && { CLICKHOUSE_URL: urls.clickhouseUrl }),
      MILLRACE_DISK_RESERVE_MIB: String(diskReserve(config) / MiB),
    },
    answers: {
      pipelineReady: () => pipeline?.ready(),
      webhooksReady: () => webhooks?.ready(),
      metricsText: () => page.metrics(),
    },
    log,
  });
  shutdown.add('ingest processes', () => members.stop(memberGraceMs));
  listening.url = baseUrlOf(config.host, port);
  return { baseUrl: listening.url, metrics: page };
}

async function requireBroker({ natsUrl, natsServerBinary }: Config): Promise<void> {
  if (natsUrl === undefined) requireBrokerBinary(natsServerBinary);
}

async function takeDataDir(dataDir: string, log: Log, shutdown: Shutdown): Promise<void> {
  const unlock = lockDataDir(dataDir);
  shutdown.add('lock', async () => unlock());
  refuseHalfRestored(dataDir);
  keepPrivate(dataDir, log);
}

async function requireFreeOperatorPort({ host, operatorPort }: Config): Promise<void> {
  if (operatorPort !== undefined) {
    await requireFreePort({ host, port: operatorPort }, 'MILLRACE_OPERATOR_PORT');
  }
}

/** Runs before the engines start, so that the usual mistake costs no time and leaves nothing behind. */
async function requireFreePort(
  { host, port }: Pick<Config, 'host' | 'port'>,
  setting: string,
): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE'
          ? `port ${port} on ${host} is taken: stop what uses it, or choose another with ${setting}`
          : `port ${port} on ${host} cannot be used: ${error.code}`;
      reject(new Error(why));
    });
    probe.listen(port, host, resolve);
  });
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : port;
}
