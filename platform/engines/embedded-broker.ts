// Runs a nats-server with JetStream on the data directory, where NATS_URL names no other broker. Knows no stream.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { replacePrivateJson } from '../secrets/private-file.ts';
import {
  anyPort,
  brokerConfiguration,
  brokerConfigurationFile,
  newAuthorization,
  readBrokerUrl,
} from './broker-configuration.ts';
import { type SupervisedChild, superviseChild } from './child.ts';

interface EmbeddedBroker extends SupervisedChild {
  url: string;
}

// A shell between us and nats-server ends the server when its standard input closes: the shell holds our pipe, so a
// killed Millrace leaves no broker behind. `wait` passes the server's own exit code on.
const endWithStdin = `
exec 3<&0
"$0" -c "$1" </dev/null &
server=$!
trap 'kill -TERM $server' TERM INT
(cat <&3 >/dev/null; kill -TERM $server) >/dev/null 2>&1 &
exec 3<&-
wait $server
code=$?
while kill -0 $server 2>/dev/null; do wait $server; code=$?; done
exit $code`;

// With several threads, Go's idle ones spend CPU on looking for work. One thread takes a fifth less CPU: a sixth of a
// core for 150,000 events/s.
const goSettings = ['GOMAXPROCS=1'];

const readyTimeoutMs = 20_000;
const stopStaleTimeoutMs = 10_000;

/**
 * Starts the broker on a free loopback port, with new passwords. The server takes the port itself and keeps it when it
 * is started again. Throws where the binary is missing or the server does not come up.
 */
export async function startEmbeddedBroker(options: {
  dataDir: string;
  binary: string;
  log: Log;
}): Promise<EmbeddedBroker> {
  requireBrokerBinary(options.binary);
  const configFile = brokerConfigurationFile(options.dataDir);
  const directory = dirname(configFile);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  const pidFile = join(directory, 'nats.pid');
  await endStaleServer(pidFile, configFile);
  const portsDir = join(directory, 'ports');
  rmSync(portsDir, { recursive: true, force: true });
  mkdirSync(portsDir, { mode: 0o700 });
  const authorization = newAuthorization();
  const storeDir = join(directory, 'jetstream');
  const configure = (port: number): void =>
    replacePrivateJson(configFile, {
      ...brokerConfiguration({ port, authorization, storeDir }),
      pid_file: pidFile,
      ports_file_dir: portsDir,
    });
  configure(anyPort);
  const log = options.log.child({ part: 'nats-server' });
  const child = await superviseChild({
    name: 'nats-server',
    command: '/usr/bin/env',
    args: [...goSettings, '/bin/sh', '-c', endWithStdin, options.binary, configFile],
    onLine: (line) => log.debug(line),
    ready: async () => configure(await listeningPort(portsDir, pidFile)),
    log: options.log,
  });
  return { ...child, pid: () => readPid(pidFile), url: readBrokerUrl(options.dataDir, 'service') };
}

/** Throws one sentence where the binary cannot be run. */
export function requireBrokerBinary(binary: string): void {
  if (spawnSync(binary, ['--version']).status === 0) return;
  throw new Error(
    `${binary} cannot be run: install nats-server, name its binary in MILLRACE_NATS_SERVER, ` +
      'or set NATS_URL to a broker of your own',
  );
}

/** The bytes of events that the broker may hold: half of the free disk, from 256 MiB to 20 GiB. */
export function eventsDiskBudget(dataDir: string): number {
  const disk = statfsSync(dataDir);
  const freeBytes = disk.bavail * disk.bsize;
  return Math.max(256 * 1_048_576, Math.min(20 * 1_073_741_824, Math.floor(freeBytes / 2)));
}

// A server that outlived a killed Millrace still has the store open, and a second server would destroy the store.
async function endStaleServer(pidFile: string, configFile: string): Promise<void> {
  const pid = readPid(pidFile);
  if (pid === undefined || !commandLine(pid).includes(configFile)) return;
  process.kill(pid, 'SIGTERM');
  for (let waitedMs = 0; waitedMs < stopStaleTimeoutMs; waitedMs += 50) {
    if (!commandLine(pid).includes(configFile)) return;
    await delay(50);
  }
  process.kill(pid, 'SIGKILL');
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

function readPid(pidFile: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8').trim());
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** A loopback port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no free port');
  return address.port;
}

/** The port in the file that the server writes once it listens: nobody else can write there. */
async function listeningPort(portsDir: string, pidFile: string): Promise<number> {
  for (let waitedMs = 0; waitedMs < readyTimeoutMs; waitedMs += 25) {
    const ending = `_${readPid(pidFile)}.ports`;
    const name = readdirSync(portsDir).find((entry) => entry.endsWith(ending));
    const port = name === undefined ? undefined : portIn(join(portsDir, name));
    if (port !== undefined) return port;
    await delay(25);
  }
  throw new Error(`nats-server does not listen after ${readyTimeoutMs} ms`);
}

/** Undefined where the file is not yet written to its end. */
function portIn(portsFile: string): number | undefined {
  try {
    return Number(new URL(JSON.parse(readFileSync(portsFile, 'utf8')).nats[0]).port);
  } catch {
    return undefined;
  }
}
