// Three real nats-servers of one cluster on loopback, with the embedded broker's users and rights, and their failures:
// a server that is killed, frozen, started again. Ends only processes that it started.

import { setTimeout as delay } from 'node:timers/promises';
import { connectBroker, type NatsConnection } from '../../../../platform/broker/nats.ts';
import { newAuthorization } from '../../../../platform/engines/broker-configuration.ts';
import { createLog } from '../../../../platform/log.ts';
import { ownPort } from '../../listen.ts';
import { startBroker } from '../broker.ts';
import type { ChildServer } from '../child-server.ts';

export interface BrokerCluster {
  /** The service's URL: all servers, by commas. */
  url: string;
  operatorUrl: string;
  /** By the names that the broker gives its peers. */
  servers: ReadonlyMap<string, ChildServer>;
  /** The server that leads a stream now; undefined while there is none. */
  leaderOf(stream: string): Promise<string | undefined>;
  /** The server of this name; throws where there is none. */
  server(name: string): ChildServer;
  /**
   * The streams whose log a server has thrown away, as nats-server 2.9 does where it contradicts the stream: what was
   * acknowledged since may be lost, or its sequences given to other messages.
   */
  readonly resets: ReadonlySet<string>;
  stop(): Promise<void>;
}

const names = ['alpha', 'beta', 'gamma'] as const;
const readyTimeoutMs = 120_000;

/** Resolves when the cluster makes streams. */
export async function startBrokerCluster(): Promise<BrokerCluster> {
  const authorization = newAuthorization();
  const ports = await Promise.all(names.map(ownPort));
  const routes = ports.map((port) => `nats-route://127.0.0.1:${port}`);
  const resets = new Set<string>();
  const onLine = (line: string): void => {
    const [, stream] = /Resetting stream cluster state for '.* > (\w+)'/.exec(line) ?? [];
    if (stream !== undefined) resets.add(stream);
  };
  const started = await Promise.all(
    names.map(async (name, index): Promise<[string, ChildServer]> => {
      const cluster = { name: 'millrace', listen: `127.0.0.1:${ports[index]}`, routes };
      const configuration = { server_name: name, cluster };
      return [name, await startBroker({ authorization, configuration, onLine })];
    }),
  );
  const servers = new Map(started);
  const urlOf = (user: string): string => {
    const login = authorization.users.find((known) => known.user === user);
    const hosts = started.map(([, { url }]) => new URL(url).host);
    return `nats://${user}:${login?.password}@${hosts.join(',nats://')}`;
  };
  const operatorUrl = urlOf('operator');
  const operator = await connectBroker(operatorUrl, createLog('silent'));
  await untilMeta(operator);
  return {
    url: urlOf('service'),
    operatorUrl,
    servers,
    resets,
    async leaderOf(stream) {
      const manager = await operator.jetstreamManager({ checkAPI: false, timeout: 1_000 });
      return manager.streams.info(stream).then(
        ({ cluster }) => cluster?.leader,
        () => undefined,
      );
    },
    server(name) {
      const found = servers.get(name);
      if (found === undefined) throw new Error(`the cluster has no server ${name}`);
      return found;
    },
    async stop() {
      await operator.close();
      await Promise.all([...servers.values()].map((server) => server.stop()));
    },
  };
}

/** Streams of three copies can be made once the servers have a leader among them, and it has seen both others. */
async function untilMeta(connection: NatsConnection): Promise<void> {
  const endMs = performance.now() + readyTimeoutMs;
  for (;;) {
    try {
      const manager = await connection.jetstreamManager({ timeout: 1_000 });
      await manager.streams.add({ name: 'FIRST', subjects: ['first'], num_replicas: names.length });
      await manager.streams.delete('FIRST');
      return;
    } catch (error) {
      if (performance.now() > endMs) throw error;
      await delay(100);
    }
  }
}
