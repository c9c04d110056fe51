// Second of the composition, called by main.ts: engines with their streams and tables, the demo project, the pipeline,
// and the port, served by this process or by members (member.ts). Builds on foundation.ts and port.ts.

import { join } from 'node:path';
import { type DemoAdmin, ensureDemoAdmin } from './control/demo/demo-admin.ts';
import { type Demo, ensureDemo, readDemoRecord } from './control/demo/demo-project.ts';
import { startImports } from './control/imports/import-runner.ts';
import { startErasures } from './erasure/start.ts';
import {
  connectEngines,
  engineChecks,
  type Foundation,
  importSettings,
  layFoundation,
} from './foundation.ts';
import type { LocateAddress } from './ingest/caller/geo.ts';
import { openLocator } from './ingest/caller/geo.ts';
import { readinessOf, serveByMembers } from './member.ts';
import { createLease } from './pipeline/lease/lease.ts';
import { type Pipeline, startPipeline } from './pipeline/start.ts';
import { buckets } from './platform/broker/buckets.ts';
import { leaderGraceMs } from './platform/broker/cluster/leader-info.ts';
import { createProfileQueue } from './platform/broker/queues/profile-queue.ts';
import { openBucket } from './platform/broker/record-bucket.ts';
import { namingSlowBroker } from './platform/broker/start/slow-broker.ts';
import type { Config } from './platform/config.ts';
import type { Keeper } from './platform/door/keeper.ts';
import { forgetKept, tellKept } from './platform/door/kept-service.ts';
import { type Door, openDoor } from './platform/door/open-door.ts';
import { lockDataDir, refuseHalfRestored } from './platform/engines/data-lock.ts';
import { requireBrokerBinary } from './platform/engines/embedded-broker.ts';
import { type EngineUrls, startEngines } from './platform/engines/engines.ts';
import { erasureKey } from './platform/erasure/erasure-record.ts';
import { configureProtobufText } from './platform/http/protobuf-text.ts';
import { shareReadiness, untilReady } from './platform/http/readiness.ts';
import { ImportFiles } from './platform/imports/import-files.ts';
import type { Log } from './platform/log.ts';
import { Standing } from './platform/members/standing.ts';
import { keepPrivate } from './platform/secrets/private-directory.ts';
import type { Shutdown } from './platform/shutdown.ts';
import { allOrProblems } from './platform/start-problems.ts';
import { zones } from './platform/zones/zones.ts';
import { openOperatorPort, openPort } from './port.ts';
import { readsAtOnce } from './query/calls/turn-bounds.ts';
import { leaseOptions, pipelineOptions, prepareBroker, prepareTables } from './stores.ts';
import { startWebhooks, type Webhooks } from './webhooks/start.ts';

export interface Service {
  baseUrl: string;
  /** Opens the demo with one click, once; absent where others may reach the service. */
  openUrl?: string;
  demo: Demo & DemoAdmin;
  /** Its ports were served by another process before, which has told all this. */
  isAgain: boolean;
}

// A batch that a killed writer had promised is stored first, which takes seconds on a busy machine.
const readyTimeoutMs = 30_000;

/**
 * Resolves when everything is up and answers; throws an Error with one sentence for the user otherwise. With a `keeper`
 * the ports are its own, and connections may have been waiting.
 */
export async function startService(
  config: Config,
  log: Log,
  shutdown: Shutdown,
  keeper?: Keeper,
): Promise<Service> {
  configureProtobufText();
  const begun = await keeper?.begun();
  if (begun?.isAgain) log.warn(begun, 'the service is started again');
  const [locate, door] = await allOrProblems([
    openLocator(config.geoDatabase),
    openDoor(config, keeper, begun),
    requireBroker(config),
    takeDataDir(config.dataDir, log, shutdown),
  ]);
  if (keeper !== undefined) {
    tellKept(config.dataDir, false);
    shutdown.add('kept service', async () => forgetKept(config.dataDir));
  }
  const { startPort } = door;
  const standing = new Standing();
  const engineReads = readsAtOnce(config.ingestProcesses);
  const urls = await startEngines({ ...config, engineReads, standing }, log, shutdown);
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
  await namingSlowBroker(
    'promised batches are read',
    prepareTables(config, urls, foundation, () => startPort.open('migrating')),
  );
  startPort.say('starting');
  const demo = await namingSlowBroker(
    'the demo project is made',
    ensureDemoWithAdmin(config, foundation),
  );
  const baseUrl = await serve(config, foundation, { locate, urls, standing, door }, shutdown);
  if (keeper !== undefined) {
    await keeper.serving();
    tellKept(config.dataDir, true);
  }
  const openUrl = await offerDemo(config, foundation, { baseUrl, demo }, shutdown);
  const isAgain = begun?.isAgain ?? false;
  return { baseUrl, demo, isAgain, ...(openUrl !== undefined && { openUrl }) };
}

interface Prepared {
  locate: LocateAddress | undefined;
  urls: EngineUrls;
  standing: Standing;
  door: Door;
}

/** Starts all that works on streams and all that answers requests; resolves to the base URL. */
async function serve(
  config: Config,
  foundation: Foundation,
  { locate, urls, standing, door }: Prepared,
  shutdown: Shutdown,
): Promise<string> {
  const pipeline = await runPipeline(config, foundation, shutdown);
  const checks = engineChecks(foundation, config, standing);
  const graceMs = leaderGraceMs(foundation.nats);
  if (pipeline !== undefined) {
    checks.push({ name: 'pipeline', graceMs, check: () => readinessOf(pipeline) });
  }
  const webhooks = await namingSlowBroker(
    'webhooks are started',
    runWebhooks(config, foundation, shutdown),
  );
  if (webhooks !== undefined) {
    checks.push({ name: 'webhooks', graceMs, check: () => webhooks.ready() });
  }
  const readiness = shareReadiness(checks);
  const own = { locate, readiness, metrics: foundation.metrics.registry, entrance: door.entrance };
  door.startPort.leave();
  const { baseUrl, metrics } =
    config.ingestProcesses === 1
      ? { ...own, baseUrl: await openPort(config, foundation, own, shutdown) }
      : await serveByMembers(
          config,
          foundation,
          { pipeline, webhooks, urls, standing, door },
          shutdown,
        );
  await runImports(config, foundation, baseUrl, shutdown);
  eraseWhoIsAsked(config, foundation, shutdown);
  const pages = { readiness, metrics };
  if (door.operatorEntrance !== undefined) {
    await openOperatorPort(config, foundation, pages, door.operatorEntrance, shutdown);
  }
  if (!(await untilReady(checks, readyTimeoutMs))) {
    foundation.log.warn('started, but not everything is ready: /readyz?verbose tells what is not');
  }
  return baseUrl;
}

/** Where requests to erase are taken, this process works on them, and on what projects keep no longer. */
function eraseWhoIsAsked(
  { roles, shards, dataDir }: Config,
  { clickhouse, control, erasures, projects, ...parts }: Foundation,
  shutdown: Shutdown,
): void {
  if (!roles.includes('query') || clickhouse === undefined) return;
  const profiles = createProfileQueue({ ...parts, shards });
  const own = { box: control.box, requests: erasures.known };
  const turns = startErasures({
    ...{ ...parts, ...own, clickhouse, shards, profiles, dataDir },
    projects: () => projects.records(),
  });
  shutdown.add('erasure', () => turns.stop());
}

/** Files that people brought, also before a restart. Of several processes on a data directory this one reads them. */
async function runImports(
  config: Config,
  { projects, clock, log }: Foundation,
  baseUrl: string,
  shutdown: Shutdown,
): Promise<void> {
  const { roles, dataDir } = config;
  if (!roles.includes('control')) return;
  const imports = await startImports({
    files: new ImportFiles(dataDir),
    refusal: importSettings(config).refusal,
    script: join(import.meta.dirname, 'history', 'uploaded.js'),
    ...{ projects, baseUrl, clock, log },
  });
  shutdown.add('imports', () => imports.stop());
}

/** The token is in the fragment, which a browser sends to nobody. */
async function offerDemo(
  { roles }: Config,
  { control }: Foundation,
  { baseUrl, demo }: Pick<Service, 'baseUrl' | 'demo'>,
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
  const { nats, projects, control, erasures, clock, log } = foundation;
  const { customers, organizations, passwords } = control;
  const instance = await openBucket(nats, buckets.instance, readDemoRecord);
  const demo = await ensureDemo({
    ...{ instance, organizations, projects, dataDir, clock, log },
    isDeleted: (id) => erasures.known.get(erasureKey(id)) !== undefined,
  });
  const admin = await ensureDemoAdmin(
    { customers, organizations, passwords, dataDir, clock, log },
    demo.organizationId,
  );
  return { ...demo, ...admin };
}

async function runPipeline(
  config: Config,
  foundation: Foundation,
  shutdown: Shutdown,
): Promise<Pipeline | undefined> {
  const { nats, clickhouse, log } = foundation;
  if (!config.roles.includes('pipeline') || clickhouse === undefined) return undefined;
  const lease = await leaseOptions(config, nats, log);
  const pipeline = startPipeline({
    ...pipelineOptions(config, foundation, clickhouse),
    ...(lease !== undefined && { lease: createLease(lease) }),
  });
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
    isDeleted: (projectId) => ground.erasures.known.get(erasureKey(projectId)) !== undefined,
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

async function requireBroker({ natsUrl, natsServerBinary }: Config): Promise<void> {
  if (natsUrl === undefined) requireBrokerBinary(natsServerBinary);
}

async function takeDataDir(dataDir: string, log: Log, shutdown: Shutdown): Promise<void> {
  const unlock = lockDataDir(dataDir);
  shutdown.add('lock', async () => unlock());
  refuseHalfRestored(dataDir);
  keepPrivate(dataDir, log);
}
