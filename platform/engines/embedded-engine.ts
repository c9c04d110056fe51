// Runs the embedded ClickHouse as a child process on the data directory, where CLICKHOUSE_URL names no server. The
// program itself is sql/engine/.

import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../log.ts';
import { type SupervisedChild, superviseChild } from './child.ts';
import { freePort } from './embedded-broker.ts';

export interface EmbeddedEngine extends SupervisedChild {
  url: string;
}

const readyTimeoutMs = 60_000;
// Each running statement takes a thread of libuv's pool, whose size only the environment can set.
const threads = 8;
// Settings of chDB's own allocator, which only the environment can set. With an arena for each core, memory that a
// merge freed on one core is useless on another for five seconds. One arena for four cores saves so many page faults
// that free memory can be given back after one second at about the same cost: see "Memory" in sql/MEASURED.md.
const arenas = Math.ceil(availableParallelism() / 4);
const allocator = `percpu_arena:disabled,narenas:${arenas},dirty_decay_ms:1000`;

/** Starts the engine on a free loopback port; `entry` is the built sql/engine/main.js. */
export async function startEmbeddedEngine(options: {
  dataDir: string;
  entry: string;
  log: Log;
}): Promise<EmbeddedEngine> {
  const directory = join(options.dataDir, 'clickhouse');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const port = await freePort();
  const log = options.log.child({ part: 'engine' });
  let announceReady = (): void => {};
  const child = await superviseChild({
    name: 'clickhouse engine',
    command: '/usr/bin/env',
    args: [
      `UV_THREADPOOL_SIZE=${threads}`,
      `JE_MALLOC_CONF=${allocator}`,
      process.execPath,
      ...[options.entry, '--path', directory, '--port', String(port), '--threads', `${threads}`],
    ],
    onLine: (line) => {
      if (line.startsWith('listening ')) announceReady();
      else log.debug(line);
    },
    ready: () =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`the engine is not ready after ${readyTimeoutMs} ms`)),
          readyTimeoutMs,
        );
        announceReady = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    log: options.log,
  });
  return { ...child, url: `http://127.0.0.1:${port}/millrace` };
}
