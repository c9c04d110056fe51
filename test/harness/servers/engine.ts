// The embedded ClickHouse for one test: the real child process on a temporary directory and a free port, its database
// migrated, and the ways it fails: killed, frozen, started again. Ends only processes it started.
//
// The child runs JavaScript. It is compiled from sql/engine on first use into node_modules/.cache under a hash of its
// sources, so that a test never meets an old build and needs none of the rest of the product to compile.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClickHouse } from '../../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../../platform/log.ts';
import { migrate } from '../../../sql/migrate.ts';
import { root } from '../source-tree.ts';

export interface TestEngine {
  /** With the database: `http://127.0.0.1:<port>/millrace`. */
  url: string;
  /** What the engine keeps; survives kill9 and restart. */
  dir: string;
  /** The process's id; changes with restart. */
  pid(): number;
  /** Ends the engine and removes the directory, unless the caller gave it. */
  stop(): Promise<void>;
  /** SIGKILL; resolves when the process is gone. */
  kill9(): Promise<void>;
  /** Starts the engine again on the same port and directory, ending it first where it still runs. */
  restart(): Promise<void>;
  /** Freezes the engine: connections stay open and silent. */
  pause(): void;
  resume(): void;
}

export interface EngineOptions {
  dir?: string;
  /** False leaves the database to the test. */
  migrated?: boolean;
}

const startTimeoutMs = 30_000;
const database = 'millrace';
/** Of libuv's pool in the child: statements that run at once, and one for Node itself. */
const threads = 8;
// setpriv lets the kernel end the engine with the test process, however that dies.
const setpriv = '/usr/bin/setpriv';

export async function startEngine(options: EngineOptions = {}): Promise<TestEngine> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'millrace-engine-'));
  const entry = compiledEngine();
  let { child, port } = await launch(entry, dir, 0);
  const killOnExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killOnExit);
  const url = `http://127.0.0.1:${port}/${database}`;
  if (options.migrated !== false) await migrateAt(url);

  return {
    url,
    dir,
    pid: () => child.pid ?? 0,
    async stop() {
      process.off('exit', killOnExit);
      child.kill('SIGCONT');
      await end(child, 'SIGTERM');
      if (options.dir === undefined) rmSync(dir, { recursive: true, force: true });
    },
    kill9: () => end(child, 'SIGKILL'),
    async restart() {
      await end(child, 'SIGTERM');
      ({ child, port } = await launch(entry, dir, port));
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
}

async function migrateAt(url: string): Promise<void> {
  const log = createLog('silent');
  const client = createClickHouse(url, { log, maxConnections: 1 });
  await migrate(client, log);
  await client.close();
}

/** Resident memory of a process, in KiB. */
export function memoryKiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/** The entry of the engine as JavaScript that is as new as its sources. */
export function compiledEngine(): string {
  const sources = join(root, 'sql', 'engine');
  const hash = createHash('sha256').update(readFileSync(join(root, 'tsconfig.json')));
  for (const name of readdirSync(sources, { encoding: 'utf8', recursive: true }).sort()) {
    if (name.endsWith('.ts') && !name.endsWith('.test.ts'))
      hash.update(name).update(readFileSync(join(sources, name)));
  }
  const cache = join(root, 'node_modules', '.cache', 'millrace');
  const built = join(cache, `engine-${hash.digest('hex').slice(0, 16)}`);
  const entry = join(built, 'sql', 'engine', 'main.js');
  if (existsSync(entry)) return entry;
  mkdirSync(cache, { recursive: true });
  const next = mkdtempSync(join(cache, 'building-'));
  writeFileSync(join(next, 'package.json'), JSON.stringify({ type: 'module' }));
  const configuration = join(next, 'tsconfig.json');
  writeFileSync(
    configuration,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { noEmit: false, outDir: next, rootDir: root, sourceMap: true },
      include: [join(sources, 'main.ts')],
      exclude: [],
    }),
  );
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '-p', configuration], { stdio: ['ignore', 2, 2] });
  try {
    renameSync(next, built);
  } catch {
    // Another test process was first; its build is the same.
    rmSync(next, { recursive: true, force: true });
  }
  return entry;
}

async function launch(
  entry: string,
  dir: string,
  port: number,
): Promise<{ child: ChildProcess; port: number }> {
  const command = [process.execPath, entry, '--path', dir, '--port', String(port)];
  command.push('--threads', String(threads));
  const [binary = '', ...args] = existsSync(setpriv)
    ? [setpriv, '--pdeathsig', 'KILL', ...command]
    : command;
  const child = spawn(binary, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, UV_THREADPOOL_SIZE: String(threads) },
  });
  return { child, port: await listeningPort(child) };
}

function listeningPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    const fail = (why: string): void => reject(new Error(`the engine ${why}\n${lines.join('\n')}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(`is not ready after ${startTimeoutMs} ms`);
    }, startTimeoutMs);
    child.once('error', reject);
    child.once('exit', (code) => fail(`ended with code ${code}`));
    const keep = (line: string): void => {
      if (lines.length < 100) lines.push(line);
      const [, port] = /^listening (\d+)$/.exec(line) ?? [];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(Number(port));
    };
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', keep);
    }
  });
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  await gone;
}
