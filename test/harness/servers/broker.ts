// A real nats-server with JetStream for one test, on its own temporary directory and free port, with the embedded
// broker's users and rights. Nothing here is a fake.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectBroker, type JetStreamManager } from '../../../platform/broker/nats.ts';
import {
  brokerConfiguration,
  brokerUrl,
  newAuthorization,
} from '../../../platform/engines/broker-configuration.ts';
import { createLog } from '../../../platform/log.ts';
import { ownPort } from '../listen.ts';
import { type ChildServer, startChildServer } from './child-server.ts';

export interface BrokerOptions {
  dir?: string;
  /** Shared by the servers of a cluster; made anew unless given. */
  authorization?: ReturnType<typeof newAuthorization>;
  /** Added to nats-server's configuration, for users, storage limits and the like. */
  configuration?: Record<string, unknown>;
  maxFileStoreBytes?: number;
  /** Hears each line of the server's log. */
  onLine?: (line: string) => void;
}

const uid = process.getuid?.() ?? 0;
const binary = process.env['MILLRACE_NATS_SERVER'] ?? 'nats-server';

/** Resolves when the server accepts clients, JetStream included. Its URL is the service's. */
export async function startBroker(options: BrokerOptions = {}): Promise<ChildServer> {
  const { authorization = newAuthorization() } = options;
  const program = {
    name: 'broker',
    // A broker that is killed comes back to it.
    freePort: await ownPort(),
    command: (dir: string, port: number) => {
      const configuration = brokerConfiguration({ port, authorization, storeDir: dir });
      return [binary, '-c', writeConfiguration(dir, configuration, options)];
    },
    createReadiness: () => {
      const read = createReadiness();
      return (line: string) => {
        options.onLine?.(line);
        return read(line);
      };
    },
    urlOf: (port: number) => brokerUrl({ port, authorization }, 'service', uid),
  };
  return startChildServer(program, options.dir);
}

/** Does what only the operator may, such as to purge or to delete a stream. */
export async function asOperator<T>(
  broker: ChildServer,
  work: (manager: JetStreamManager) => Promise<T>,
): Promise<T> {
  const connection = await connectBroker(operatorUrl(broker), createLog('silent'));
  try {
    return await work(await connection.jetstreamManager());
  } finally {
    await connection.close();
  }
}

/** The URL of the user who may do everything. */
export function operatorUrl(broker: ChildServer): string {
  const { authorization } = JSON.parse(readFileSync(join(broker.dir, 'nats.conf'), 'utf8'));
  const port = Number(new URL(broker.url).port);
  return brokerUrl({ port, authorization }, 'operator', uid);
}

function writeConfiguration(
  dir: string,
  usual: ReturnType<typeof brokerConfiguration>,
  { configuration, maxFileStoreBytes: max_file_store }: BrokerOptions,
): string {
  const configFile = join(dir, 'nats.conf');
  const jetstream = { ...usual.jetstream, ...(max_file_store !== undefined && { max_file_store }) };
  writeFileSync(configFile, JSON.stringify({ ...usual, jetstream, ...configuration }));
  return configFile;
}

/** Reads nats-server's log: the port is in it some lines before JetStream is ready. */
export function createReadiness(): (line: string) => number | undefined {
  let port: number | undefined;
  return (line) => {
    const [, text] = /client connections on 127\.0\.0\.1:(\d+)/.exec(line) ?? [];
    if (text !== undefined) port = Number(text);
    return line.includes('Server is ready') ? port : undefined;
  };
}
