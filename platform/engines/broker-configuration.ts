// The embedded broker's configuration file: its users, whose passwords are made anew at each start and kept nowhere
// else, and the URLs by which this machine's processes log in. Running the server is embedded-broker.ts.

import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { embeddedBrokerPayloadBytes } from '../limits.ts';
import { readPrivateJson } from '../secrets/private-file.ts';
import { servicePermissions } from './broker-permissions.ts';

/** The service is held to what it needs; the operator may do everything, such as deleting a stream. */
export type BrokerUser = 'service' | 'operator';

interface Login {
  user: string;
  password: string;
}

interface BrokerAccess {
  port: number;
  authorization: { users: readonly Login[] };
}

/** The port that makes nats-server take a free one. */
export const anyPort = -1;

// As many bits as a key: no limit of tries is needed.
const passwordBytes = 24;

export function newAuthorization() {
  const password = (): string => randomBytes(passwordBytes).toString('base64url');
  const service: BrokerUser = 'service';
  const operator: BrokerUser = 'operator';
  return {
    users: [
      { user: service, password: password(), permissions: servicePermissions },
      { user: operator, password: password() },
    ],
  };
}

/** What nats-server reads. JSON is a subset of its configuration language, and quotes paths safely. */
export function brokerConfiguration(options: BrokerAccess & { storeDir: string }) {
  const { port, authorization, storeDir } = options;
  return {
    host: '127.0.0.1',
    port,
    authorization,
    max_payload: embeddedBrokerPayloadBytes,
    max_pending: 128 * 1_048_576,
    // Far beyond any disk: the default follows the free disk, and a server that restarts with less than its streams
    // have reserved leaves a stream out without a word. The real bound is each stream's own max_bytes.
    jetstream: { store_dir: storeDir, max_file_store: 2 ** 40 },
  };
}

export function brokerConfigurationFile(dataDir: string): string {
  return join(dataDir, 'nats', 'nats.conf');
}

/** The user's URL of the broker that runs on the data directory. Throws one sentence where none has been started. */
export function readBrokerUrl(dataDir: string, user: BrokerUser): string {
  const file = brokerConfigurationFile(dataDir);
  const access = readPrivateJson(file);
  if (!isAccess(access) || access.port === anyPort) {
    throw new Error(`${file} names no broker that can be reached: start Millrace on it again`);
  }
  // A command may run as root; whoever else can read the file runs the server too.
  return brokerUrl(access, user, process.getuid?.() || statSync(file).uid);
}

/** `uid` is the user of this machine that runs the server. */
export function brokerUrl(access: BrokerAccess, user: BrokerUser, uid: number): string {
  const login = access.authorization.users.find((known) => known.user === user);
  if (login === undefined) throw new Error(`the broker has no user ${user}`);
  return `nats://${login.user}:${login.password}@127.0.0.1:${access.port}?server-uid=${uid}`;
}

function isAccess(value: unknown): value is BrokerAccess {
  if (typeof value !== 'object' || value === null) return false;
  const authorization: unknown = Reflect.get(value, 'authorization');
  if (typeof authorization !== 'object' || authorization === null) return false;
  return (
    typeof Reflect.get(value, 'port') === 'number' &&
    Array.isArray(Reflect.get(authorization, 'users'))
  );
}
