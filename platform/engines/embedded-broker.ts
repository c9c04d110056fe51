// Runs a nats-server with JetStream on the data directory, where NATS_URL names no other broker. Knows no stream.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Log } from '../log.ts';
import { replacePrivateJson } from '../secrets/private-file.ts';
import {
  anyPort,
  brokerConfiguration,
  brokerConfigurationFile,
  newAuthorization,
  readBrokerUrl,
} from './broker-configuration.ts';
import { createBrokerLog, readBrokerLine } from './broker-output.ts';
import { openBrokerPing } from './broker-ping.ts';
import { type SupervisedChild, superviseChild } from './child.ts';
import { whyUnusable } from './data-lock.ts';
import { endStaleBrokers } from './stale-brokers.ts';

interface EmbeddedBroker extends SupervisedChild {
  url: string;
}

// With several threads, Go's idle ones spend CPU on looking for work. One thread takes a fifth less CPU: a sixth of a
// core for 150,000 events/s.
const goSettings = ['GOMAXPROCS=1'];

// A slow machine with much to recover takes long.
const readyTimeoutMs = 60_000;
// Fifteen seconds without an answer. A server that hangs again because its disk is still full is left alone for a
// minute, or until there is room: each end costs the frames in flight.
/** Less free space does not take two of the largest messages, so that a write may find the disk full. */
const leastRoomBytes = 16 * 1_048_576;
const pings = { everyMs: 2_500, timeoutMs: 5_000, maxMissed: 1, restMs: 60_000 };

/**
 * Starts the broker on a free loopback port, with new passwords. The server takes the port itself and keeps it when it
 * is started again. Throws one sentence where the binary is missing or the server does not come up. A test may ask for
 * quicker `pings`.
 */
export async function startEmbeddedBroker(options: {
  dataDir: string;
  binary: string;
  /** Hears when the broker ends by itself, and when the next one is ready. */
  onStanding?: (isThere: boolean) => void;
  log: Log;
  pings?: { everyMs: number; timeoutMs: number; restMs: number };
}): Promise<EmbeddedBroker> {
  const { dataDir, binary, onStanding, log } = options;
  requireBrokerBinary(binary);
  const configFile = brokerConfigurationFile(dataDir);
  const directory = dirname(configFile);
  const authorization = newAuthorization();
  const storeDir = join(directory, 'jetstream');
  const configure = (port: number): void =>
    orUnusable(directory, () =>
      replacePrivateJson(configFile, brokerConfiguration({ port, authorization, storeDir })),
    );
  orUnusable(directory, () => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    chmodSync(directory, 0o700);
  });
  await endStaleBrokers(configFile);
  configure(anyPort);
  let port = anyPort;
  const write = createBrokerLog(log.child({ part: 'nats-server' }));
  const bounds = { ...pings, ...options.pings };
  const ping = openBrokerPing(() => readBrokerUrl(dataDir, 'operator'), log);
  const child = await superviseChild({
    name: 'nats-server',
    command: '/usr/bin/env',
    args: [...goSettings, binary, '-c', configFile],
    watchesInput: false,
    readLine(line) {
      const read = readBrokerLine(line);
      write(read);
      port = listeningPort(read.text) ?? port;
      return { text: read.text, isReady: read.text === 'Server is ready' };
    },
    readyTimeoutMs,
    ...(onStanding && { onStanding }),
    pings: {
      ...bounds,
      lacksRoom: () => lacksRoom(directory),
      ping: (signal) => ping.ask({ ...bounds, signal }),
      end: () => ping.close(),
    },
    log,
  });
  try {
    // The server keeps the port when it is started again, so that connections come back.
    configure(port);
  } catch (error) {
    await child.stop(0);
    throw error;
  }
  return { ...child, url: readBrokerUrl(dataDir, 'service') };
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

/** Every broker of the directory may hang while it does. */
function lacksRoom(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize < leastRoomBytes;
  } catch {
    // What cannot be looked at is no reason to end a broker sooner.
    return true;
  }
}

function orUnusable(directory: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new Error(`the broker's directory ${directory} cannot be used: ${whyUnusable(error)}`, {
      cause: error,
    });
  }
}

/** The port that the server names once it listens. The line comes from its own pipe: nobody else can write there. */
function listeningPort(text: string): number | undefined {
  const [, port] = /^Listening for client connections on 127\.0\.0\.1:(\d+)$/.exec(text) ?? [];
  return port === undefined ? undefined : Number(port);
}
