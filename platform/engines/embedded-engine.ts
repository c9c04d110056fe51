// Runs the embedded ClickHouse as a child process on the data directory, where CLICKHOUSE_URL names no server. It
// listens on a Unix socket in a directory of mode 0700: no other user, and no web page, can open a connection or take
// its place. It asks for a password besides, made anew at each start. The program itself is sql/engine/.

import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { socketUrl } from '../clickhouse/server-url.ts';
import type { Log } from '../log.ts';
import { type SupervisedChild, superviseChild } from './child.ts';
import { whyUnusable } from './data-lock.ts';

export interface EmbeddedEngine extends SupervisedChild {
  url: string;
}

const database = 'millrace';
const readyTimeoutMs = 120_000;
// A minute without an answer: merges and a full queue delay one by seconds on a small machine.
const pings = { everyMs: 10_000, timeoutMs: 10_000, maxMissed: 3, restMs: 0 };
/** The longest path of a Unix socket on every system: 104 bytes with a final NUL on macOS, 108 on Linux. */
const maxSocketPathBytes = 103;
const maxReasonCharacters = 1_000;
// Two inserts, and the engine's own statements, beside the reads. Each takes a thread of libuv's pool, whose size only
// the environment can set.
const threadsBesideReads = 3;
// Settings of chDB's own allocator, which only the environment can set. With an arena for each core, memory that a
// merge freed on one core is useless on another for five seconds. One arena for four cores saves so many page faults
// that free memory can be given back after one second at about the same cost: see "Memory" in sql/MEASURED.md.
const arenas = Math.ceil(availableParallelism() / 4);
const allocator = `percpu_arena:disabled,narenas:${arenas},dirty_decay_ms:1000`;

const engineDirectory = (dataDir: string): string => join(dataDir, 'clickhouse');
const passwordFileIn = (directory: string): string => join(directory, 'engine.password');
/** Names the socket, which may be elsewhere. */
const addressFileIn = (directory: string): string => join(directory, 'engine.address');

/** The URL of the engine that runs on the data directory. Throws one sentence where none was started. */
export function readEngineUrl(dataDir: string): string {
  const directory = engineDirectory(dataDir);
  try {
    const socket = readFileSync(addressFileIn(directory), 'utf8');
    return socketUrl(socket, database, readFileSync(passwordFileIn(directory), 'utf8'));
  } catch (error) {
    throw new Error(
      `no ClickHouse runs on ${directory} that can be reached: ${whyUnusable(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** Starts the engine; `entry` is the built sql/engine/main.js. A test may ask for quicker `pings`. */
export async function startEmbeddedEngine(options: {
  dataDir: string;
  entry: string;
  /** Of all that the engine does; three quarters of it for one statement. */
  memoryBytes: number;
  /** That run at once. */
  reads: number;
  /** Hears when the engine ends by itself, and when the next one is ready. */
  onStanding?: (isThere: boolean) => void;
  log: Log;
  pings?: { everyMs: number; timeoutMs: number };
}): Promise<EmbeddedEngine> {
  const directory = engineDirectory(options.dataDir);
  const socket = socketIn(directory);
  const passwordFile = passwordFileIn(directory);
  const password = prepare(directory, passwordFile);
  writeFileSync(addressFileIn(directory), socket, { mode: 0o600 });
  const threads = options.reads + threadsBesideReads;
  const log = options.log.child({ part: 'engine' });
  const reasonOf = createReason();
  const child = await superviseChild({
    name: 'the clickhouse engine',
    command: '/usr/bin/env',
    args: [
      `UV_THREADPOOL_SIZE=${threads}`,
      `JE_MALLOC_CONF=${allocator}`,
      process.execPath,
      ...[options.entry, '--path', directory, '--socket', socket, '--threads', `${threads}`],
      ...['--memory-mib', String(Math.floor(options.memoryBytes / 1_048_576))],
      // In a file, because other users can read a command line.
      ...['--password-file', passwordFile],
    ],
    watchesInput: true,
    readLine(line) {
      log.debug(line);
      return { text: reasonOf(line), isReady: line === 'listening' };
    },
    readyTimeoutMs,
    ...(options.onStanding && { onStanding: options.onStanding }),
    pings: { ...pings, ...options.pings, ping: (signal) => ping(socket, signal) },
    log: options.log,
  });
  return {
    ...child,
    url: socketUrl(socket, database, password),
    async stop(graceMs) {
      await child.stop(graceMs);
      if (dirname(socket) !== directory) rmSync(dirname(socket), { recursive: true, force: true });
    },
  };
}

/**
 * A reader of the lines of a start that fails: returns the last exception, which may take several lines, or else the
 * line. The program's own last line does not name the cause.
 */
function createReason(): (line: string) => string {
  let exception = '';
  return (line) => {
    const own = line.startsWith('millrace engine: ');
    if (/^Code: \d+\. /.test(line)) exception = line;
    else if (!own && exception !== '' && exception.length < maxReasonCharacters) {
      exception += ` ${line}`;
    }
    return exception || line;
  };
}

/** Makes the directory, and a new password in it. Throws one sentence where it cannot be written. */
function prepare(directory: string, passwordFile: string): string {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // It may be older, or made by somebody else.
    chmodSync(directory, 0o700);
    return writePassword(passwordFile);
  } catch (error) {
    throw new Error(`the engine's directory ${directory} cannot be used: ${whyUnusable(error)}`, {
      cause: error,
    });
  }
}

/** A new password in place of an older one, in a file that only we can read. */
export function writePassword(file: string): string {
  const password = randomBytes(24).toString('base64url');
  rmSync(file, { force: true });
  writeFileSync(file, password, { mode: 0o600, flag: 'wx' });
  return password;
}

/** A path for the socket in a directory that only we can enter. */
function socketIn(directory: string): string {
  const path = join(directory, 'engine.sock');
  if (Buffer.byteLength(path) <= maxSocketPathBytes) return path;
  return join(mkdtempSync(join(tmpdir(), 'millrace-')), 'engine.sock');
}

function ping(socketPath: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/ping', signal, agent: false }, (response) => {
      response.resume().on('error', reject);
      resolve(response.statusCode === 200);
    });
    asked.on('error', reject).end();
  });
}
