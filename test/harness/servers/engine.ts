// The embedded ClickHouse for one test: the real child process on a temporary directory and a free port, its database
// migrated.

import { createClickHouse } from '../../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../../platform/log.ts';
import { migrate } from '../../../sql/migrate.ts';
import { compiledEngine } from '../compiled-entries.ts';
import { type ChildServer, startChildServer } from './child-server.ts';

export interface EngineOptions {
  dir?: string;
  /** False leaves the database to the test. */
  migrated?: boolean;
}

const database = 'millrace';
/** Size of libuv's pool in the child: statements that run at once, and one thread for Node itself. */
const threads = 8;

/** Its url names the database: `http://127.0.0.1:<port>/millrace`. */
export async function startEngine(options: EngineOptions = {}): Promise<ChildServer> {
  const entry = compiledEngine();
  const program = {
    name: 'engine',
    freePort: 0,
    command: (dir: string, port: number) => [
      ...[process.execPath, entry, '--path', dir],
      ...['--port', String(port), '--threads', String(threads)],
    ],
    env: { ...process.env, UV_THREADPOOL_SIZE: String(threads) },
    createReadiness: () => listeningPort,
    urlOf: (port: number) => `http://127.0.0.1:${port}/${database}`,
  };
  const engine = await startChildServer(program, options.dir);
  if (options.migrated !== false) await migrateAt(engine.url);
  return engine;
}

function listeningPort(line: string): number | undefined {
  const [, port] = /^listening (\d+)$/.exec(line) ?? [];
  return port === undefined ? undefined : Number(port);
}

async function migrateAt(url: string): Promise<void> {
  const log = createLog('silent');
  const client = createClickHouse(url, { log, maxConnections: 1 });
  await migrate(client, log);
  await client.close();
}
