// The embedded ClickHouse for one test: the real child process on a temporary directory, its database migrated. That
// is done once for all tests, whose engines start on copies: it takes an engine twice the CPU of a start.

import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClickHouse } from '../../../platform/clickhouse/clickhouse.ts';
import { readServerUrl, socketUrl } from '../../../platform/clickhouse/server-url.ts';
import { writePassword } from '../../../platform/engines/embedded-engine.ts';
import { createLog } from '../../../platform/log.ts';
import { migrate } from '../../../sql/migrate.ts';
import { compiledEngine } from '../compiled-entries.ts';
import { keepFirst, madeOnce, newDirectory } from '../made-once.ts';
import { root } from '../source-tree.ts';
import { copyStopped } from '../stopped-copy.ts';
import { type ChildServer, startChildServer } from './child-server.ts';
import type { SmallDisk } from './small-disk.ts';

export interface EngineOptions {
  dir?: string;
  /** The disk that holds the engine's directory, in place of `dir`. */
  disk?: SmallDisk;
  /** The engine's least unless given. */
  memoryMiB?: number;
  /** False leaves the database to the test. */
  migrated?: boolean;
}

const database = 'millrace';
/** Reads that the engine runs at once; others wait. */
export const engineReaders = 11;
/** As the product has it: reads, two inserts, and the engine's own statements. */
const threads = engineReaders + 3;

/** Its url names the database. */
export async function startEngine(options: EngineOptions = {}): Promise<ChildServer> {
  const entry = compiledEngine();
  const isFresh = options.dir === undefined && options.disk === undefined;
  const template =
    options.migrated !== false && isFresh ? await migratedDirectory(entry) : undefined;
  const program = {
    name: 'engine',
    freePort: 0,
    command(dir: string) {
      const inside = options.disk === undefined ? dir : options.disk.inside;
      // A restart keeps the password, so that clients go on.
      if (!existsSync(passwordFileIn(dir))) writePassword(passwordFileIn(dir));
      return [
        ...(options.disk?.enter ?? []),
        ...[process.execPath, entry, '--path', inside, '--password-file', passwordFileIn(inside)],
        ...['--socket', socketIn(inside), '--threads', String(threads)],
        ...(options.memoryMiB === undefined ? [] : ['--memory-mib', String(options.memoryMiB)]),
      ];
    },
    env: { ...process.env, UV_THREADPOOL_SIZE: String(threads) },
    ...(template !== undefined && { prepare: (dir: string) => copyStopped(template, dir) }),
    createReadiness: () => (line: string) => (line === 'listening' ? 0 : undefined),
    urlOf: (_: number, dir: string) => socketUrl(socketIn(dir), database, passwordIn(dir)),
  };
  const engine = await startChildServer(program, options.disk?.directory ?? options.dir);
  if (options.migrated !== false && template === undefined) await migrateAt(engine.url);
  return engine;
}

/** Of a stopped engine whose database is migrated; a copy of it is all that an engine needs. */
export async function migratedDirectory(entry = compiledEngine()): Promise<string> {
  const kept = join(madeOnce, `tables-${hashOfSchema(entry)}`);
  if (existsSync(kept)) return kept;
  // Elsewhere: the path of a socket has 103 bytes at most, and that of a checkout may be long.
  const dir = mkdtempSync(join(tmpdir(), 'millrace-tables-'));
  const engine = await startEngine({ dir });
  await engine.stop();
  const copy = newDirectory();
  copyStopped(dir, copy);
  rmSync(dir, { recursive: true, force: true });
  keepFirst(copy, kept);
  return kept;
}

/** `entry` is named after its sources; package.json names the engine's version. */
function hashOfSchema(entry: string): string {
  const hash = createHash('sha256').update(entry);
  for (const file of [
    'package.json',
    'sql/migrate.ts',
    'sql/remake-table.ts',
    'sql/copied-rows.ts',
  ]) {
    hash.update(readFileSync(join(root, file)));
  }
  const migrations = join(root, 'sql', 'migrations');
  for (const name of readdirSync(migrations).sort()) {
    hash.update(name).update(readFileSync(join(migrations, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

function socketIn(dir: string): string {
  return join(dir, 'engine.sock');
}

/** The file of the password that the engine on `dir` asks for. */
export function passwordFileIn(dir: string): string {
  return join(dir, 'engine.password');
}

export function passwordIn(dir: string): string {
  return readFileSync(passwordFileIn(dir), 'utf8');
}

async function migrateAt(url: string): Promise<void> {
  const log = createLog('silent');
  const client = createClickHouse(url, { log, maxConnections: 1 });
  await migrate(client, log);
  await client.close();
}

/** The URL of another database of the engine at `url`. */
export function inDatabase(url: string, database: string): string {
  const { socketPath = '', http } = readServerUrl(url);
  return socketUrl(socketPath, database, http.password);
}
