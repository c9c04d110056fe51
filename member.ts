// Second of the composition, called by main.ts in each of several processes that serve the port (service.ts starts
// them). Builds on foundation.ts and port.ts; has no pipeline, and asks its starter for what only the starter knows.

import { connectEngines, engineChecks, layFoundation } from './foundation.ts';
import { namingSlowBroker } from './platform/broker/start/slow-broker.ts';
import type { Config } from './platform/config.ts';
import { Entrance } from './platform/door/entrance.ts';
import { Keeper } from './platform/door/keeper.ts';
import { configureProtobufText } from './platform/http/protobuf-text.ts';
import { type Holds, shareReadiness } from './platform/http/readiness.ts';
import type { Log } from './platform/log.ts';
import { ProcessLink } from './platform/members/process-link.ts';
import { needStore } from './platform/members/process-roles.ts';
import { Standing } from './platform/members/standing.ts';
import type { Shutdown } from './platform/shutdown.ts';
import { openLocator, openPort } from './port.ts';

/** Resolves when it takes connections; throws an Error with one sentence for the user otherwise. */
export async function startMember(config: Config, log: Log, shutdown: Shutdown): Promise<void> {
  configureProtobufText();
  const locate = await openLocator(config);
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
