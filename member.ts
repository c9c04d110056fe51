// One of several processes that serve the port, without the pipeline: engines, streams and tables are there when it
// starts, and what only their starter knows is asked of it.

import { checksOf, connectEngines, layFoundation, openLocator, serve } from './foundation.ts';
import type { Config } from './platform/config.ts';
import { configureProtobufText } from './platform/http/protobuf-text.ts';
import type { Log } from './platform/log.ts';
import { ProcessLink } from './platform/members/process-link.ts';
import type { Shutdown } from './platform/shutdown.ts';

/** Resolves when it takes connections; throws an Error with one sentence for the user otherwise. */
export async function startMember(config: Config, log: Log, shutdown: Shutdown): Promise<void> {
  configureProtobufText();
  const locate = await openLocator(config);
  const { natsUrl = '', clickhouseUrl = '' } = config;
  const connections = await connectEngines({ natsUrl, clickhouseUrl }, log, shutdown);
  const foundation = await layFoundation(config, connections, log, shutdown);
  const { registry } = foundation.metrics;
  const starter = new ProcessLink(process, { metrics: () => registry.getMetricsAsJSON() });
  const checks = checksOf(foundation);
  if (config.roles.includes('pipeline')) {
    const check = async () => (await starter.ask('pipelineReady')) === true;
    checks.push({ name: 'pipeline', check });
  }
  const metrics = {
    contentType: registry.contentType,
    async metrics() {
      const text = await starter.ask('metricsText');
      if (typeof text !== 'string') throw new Error('the starter does not answer');
      return text;
    },
  };
  await serve(config, foundation, { locate, checks, metrics }, shutdown);
  await starter.ask('serving');
}
