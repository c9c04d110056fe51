// Second of the composition, called by main.ts in each of several processes that serve the port. Builds on
// foundation.ts and port.ts; has no pipeline, and asks its starter for what only the starter knows. Below, how
// service.ts starts them.

import { join } from 'node:path';
import {
  connectEngines,
  diskReserve,
  engineChecks,
  type Foundation,
  layFoundation,
} from './foundation.ts';
import { openLocator } from './ingest/caller/geo.ts';
import type { Pipeline } from './pipeline/start.ts';
import { namingSlowBroker } from './platform/broker/start/slow-broker.ts';
import type { Config } from './platform/config.ts';
import { Entrance } from './platform/door/entrance.ts';
import { Keeper } from './platform/door/keeper.ts';
import type { Door } from './platform/door/open-door.ts';
import type { EngineUrls } from './platform/engines/engines.ts';
import type { MetricsPage } from './platform/http/operator-routes.ts';
import { configureProtobufText } from './platform/http/protobuf-text.ts';
import { type Holds, shareReadiness } from './platform/http/readiness.ts';
import type { Log } from './platform/log.ts';
import { startMembers } from './platform/members/members.ts';
import { metricsText } from './platform/members/metrics-of-processes.ts';
import { AnswerWithHandle, ProcessLink } from './platform/members/process-link.ts';
import { needStore } from './platform/members/process-roles.ts';
import { Standing } from './platform/members/standing.ts';
import type { Shutdown } from './platform/shutdown.ts';
import { openPort } from './port.ts';
import type { Webhooks } from './webhooks/start.ts';

/** Resolves when it takes connections; throws an Error with one sentence for the user otherwise. */
export async function startMember(config: Config, log: Log, shutdown: Shutdown): Promise<void> {
  configureProtobufText();
  const locate = await openLocator(config.geoDatabase);
  const { natsUrl = '', clickhouseUrl = '' } = config;
  const urls = needStore(config.roles) ? { natsUrl, clickhouseUrl } : { natsUrl };
  const connections = await connectEngines(urls, config, log, shutdown);
  const laid = layFoundation(config, connections, log, shutdown);
  const foundation = await namingSlowBroker('records are read', laid);
  const { registry } = foundation.metrics;
  const standing = new Standing();
  const starter = new ProcessLink(process, {
    metrics: () => registry.getMetricsAsJSON(),
    enginesAway: (away) => standing.replace(away),
  });
  const checks = engineChecks(foundation, config, standing);
  for (const name of ['pipeline', 'webhooks'] as const) {
    if (!config.roles.includes(name)) continue;
    const check = async (): Promise<Holds> => {
      const answer = await starter.ask(`${name}Ready`);
      return answer === 'standby' ? answer : answer === true;
    };
    checks.push({ name, check });
  }
  const metrics = {
    contentType: registry.contentType,
    async metrics() {
      const text = await starter.ask('metricsText');
      if (typeof text !== 'string') throw new Error('the starter does not answer');
      return text;
    },
  };
  const pages = { readiness: shareReadiness(checks), metrics };
  const { bind } = new Keeper(starter);
  const { host, port } = config;
  const entrance = await Entrance.at({
    host,
    port,
    setting: '--port',
    bind,
    isHandedOn: () => true,
  });
  await openPort(config, foundation, { locate, entrance, ...pages }, shutdown);
  await starter.ask('serving');
}

// Requests in flight may take five seconds, queued mails another five.
const memberGraceMs = 12_000;
const MiB = 1_048_576;

/** What members ask for, or reach. */
interface Served {
  pipeline: Pipeline | undefined;
  webhooks: Webhooks | undefined;
  urls: EngineUrls;
  standing: Standing;
  door: Door;
}

/** Starts members, which serve the port; this process keeps the engines and the pipeline. */
export async function serveByMembers(
  config: Config,
  { metrics, listening, log }: Foundation,
  { pipeline, webhooks, urls, standing, door }: Served,
  shutdown: Shutdown,
): Promise<{ baseUrl: string; metrics: MetricsPage }> {
  const { entrance, startPort } = door;
  const { port } = entrance;
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
      pipelineReady: () => pipeline && readinessOf(pipeline),
      webhooksReady: () => webhooks?.ready(),
      metricsText: () => page.metrics(),
      bind: async () => new AnswerWithHandle(port, await entrance.share()),
    },
    log,
  });
  standing.onChange(() => void members.ask('enginesAway', standing.away));
  shutdown.add('ingest processes', () => members.stop(memberGraceMs));
  shutdown.add('port', async () => {
    if (!entrance.isHandedOn()) await startPort.open('ending');
  });
  listening.url = entrance.baseUrl;
  return { baseUrl: entrance.baseUrl, metrics: page };
}

/** Whether the pipeline works, or waits for another process to end. */
export function readinessOf(pipeline: Pipeline): Holds {
  return pipeline.isStandby() ? 'standby' : pipeline.ready();
}
