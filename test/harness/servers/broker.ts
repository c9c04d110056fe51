// A real nats-server with JetStream for one test, on its own temporary directory and free port. Nothing here is a fake.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { embeddedBrokerPayloadBytes } from '../../../platform/limits.ts';
import { type ChildServer, startChildServer } from './child-server.ts';

export interface BrokerOptions {
  dir?: string;
  /** Added to nats-server's configuration, for users, storage limits and the like. */
  configuration?: Record<string, unknown>;
  maxFileStoreBytes?: number;
}

/** Resolves when the server accepts clients, JetStream included. */
export function startBroker(options: BrokerOptions = {}): Promise<ChildServer> {
  const program = {
    name: 'broker',
    freePort: -1,
    command: (dir: string, port: number) => [
      'nats-server',
      '-c',
      writeConfiguration(dir, port, options),
    ],
    createReadiness,
    urlOf: (port: number) => `nats://127.0.0.1:${port}`,
  };
  return startChildServer(program, options.dir);
}

function writeConfiguration(dir: string, port: number, options: BrokerOptions): string {
  const configFile = join(dir, 'nats.conf');
  const configuration = {
    host: '127.0.0.1',
    port,
    max_payload: embeddedBrokerPayloadBytes,
    // Without it nats-server offers three quarters of the disk's free space, which other tests change all the time.
    jetstream: { store_dir: dir, max_file_store: options.maxFileStoreBytes ?? 2 ** 40 },
    ...options.configuration,
  };
  writeFileSync(configFile, JSON.stringify(configuration));
  return configFile;
}

// The port is logged some lines before JetStream is ready.
function createReadiness(): (line: string) => number | undefined {
  let port: number | undefined;
  return (line) => {
    const [, text] = /client connections on 127\.0\.0\.1:(\d+)/.exec(line) ?? [];
    if (text !== undefined) port = Number(text);
    return line.includes('Server is ready') ? port : undefined;
  };
}
