// The whole product as a user runs it: the built main.ts on a temporary data directory with its own broker and engine.
// For the end-to-end tests and the benches. Ends only processes that it started.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { socketUrl } from '../../../platform/clickhouse/server-url.ts';
import { readBrokerUrl } from '../../../platform/engines/broker-configuration.ts';
import { eventually } from '../clients/client.ts';
import { ownPort } from '../listen.ts';
import { root } from '../source-tree.ts';
import { copyStopped } from '../stopped-copy.ts';
import { migratedDirectory } from './engine.ts';
import type { SmallDisk } from './small-disk.ts';

/** The line that `--json` prints when the service is ready. */
interface Announcement {
  baseUrl: string;
  /** Opens the demo with one click, once; absent where others may reach the service. */
  openUrl?: string;
  organizationId: string;
  projectId: string;
  publicKey: string;
  privateKey: string;
}

export type Part = 'service' | 'broker' | 'engine';

export interface Stack extends Announcement {
  dataDir: string;
  natsUrl: string;
  clickhouseUrl: string;
  /** Current process ids of the service, the broker and the engine. */
  pids(): Record<Part, number>;
  /** Process ids of the members that serve requests beside the service, where `--ingest` asks for several. */
  ingestPids(): number[];
  /**
   * SIGKILL. A killed broker or engine is started again by the service; a killed service by `restart` or its keeper.
   */
  kill9(part: Part): void;
  /** Starts the service again on the same directory, with other options if given; its URLs may change. */
  restart(changes?: Pick<StackOptions, 'args' | 'dist'>): Promise<Stack>;
  /** SIGTERM, then waits for the end; returns the exit code and the milliseconds it took. */
  stop(): Promise<{ code: number | null; ms: number }>;
  /** The last lines of the log. */
  log(): string;
}

interface StackOptions {
  env?: Record<string, string>;
  args?: readonly string[];
  /** A data directory, empty or not; otherwise a temporary one with migrated tables, removed by `stop`. */
  dataDir?: string;
  /** The build that runs; the checkout's unless given. */
  dist?: string;
  /** Runs what `npm start` runs: a keeper of the ports, whose child the service is. */
  isKept?: boolean;
  /** The disk that holds `dataDir`, a path inside. */
  disk?: SmallDisk;
}

/** The flags that `npm start` gives to node, and its setting of the allocator. */
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
export const nodeFlags: readonly string[] = String(scripts.start).match(/--\S+/g) ?? [];
export const allocatorSetting = String(scripts.start).split(' ')[0] ?? '';
const [allocatorName = '', allocatorValue] = allocatorSetting.split('=');

const readyTimeoutMs = 300_000;
const keptLogLines = 200;

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const dataDir = options.dataDir ?? (await newDataDir(options));
  const lines: string[] = [];
  const { dist = join(root, 'dist'), isKept = false } = options;
  const main = join(dist, isKept ? 'door.js' : 'main.js');
  // Whoever starts it again at its address finds the port free.
  const port = String(await ownPort());
  const args = [...nodeFlags, main, '--json', '--port', port, '--data', dataDir];
  const outside = (path: string): string => options.disk?.outside(path) ?? path;
  const [program = '', ...words] = [...(options.disk?.enter ?? []), process.execPath, ...args];
  const service = spawn(program, [...words, ...(options.args ?? [])], {
    env: {
      ...process.env,
      [allocatorName]: allocatorValue,
      MILLRACE_LOG_LEVEL: 'info',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  createInterface({ input: service.stderr }).on('line', (line) => {
    lines.push(line);
    if (lines.length > keptLogLines) lines.shift();
  });
  const ownPid = service.pid ?? 0;
  const announcement = await firstLine(service, () => lines.join('\n'));
  const servicePid = (): number => (isKept ? (ingestPids(ownPid)[0] ?? 0) : ownPid);
  const pids = (): Record<Part, number> => {
    const pid = servicePid();
    return { service: pid, broker: brokerPid(pid), engine: enginePid(pid) };
  };
  return {
    ...announcement,
    dataDir,
    natsUrl: options.env?.['NATS_URL'] ?? readBrokerUrl(outside(dataDir), 'service'),
    clickhouseUrl: engineUrl(pids().engine, outside),
    pids,
    ingestPids: () => ingestPids(servicePid()),
    kill9(part) {
      signalProcess(pids()[part], 'SIGKILL');
    },
    async restart(changes = {}) {
      if (service.exitCode === null && service.signalCode === null) {
        await new Promise((resolve) => service.once('exit', resolve));
      }
      return startStack({ ...options, ...changes, dataDir });
    },
    async stop() {
      const started = performance.now();
      if (service.exitCode === null && service.signalCode === null) {
        const ended = new Promise((resolve) => service.once('exit', resolve));
        service.kill('SIGTERM');
        await ended;
      }
      if (options.dataDir === undefined) await removeWhenQuiet(dataDir);
      return { code: service.exitCode, ms: performance.now() - started };
    },
    log: () => lines.join('\n'),
  };
}

/** With migrated tables, which take a new engine longest; tests of a first start name a directory of their own. */
async function newDataDir({ dist, env }: StackOptions): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-stack-'));
  if (dist === undefined && env?.['CLICKHOUSE_URL'] === undefined) {
    copyStopped(await migratedDirectory(), join(dataDir, 'clickhouse'));
  }
  return dataDir;
}

function firstLine(service: ChildProcess, log: () => string): Promise<Announcement> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(timer);
      service.kill('SIGKILL');
      reject(new Error(`the stack is not ready: ${why}\n${log()}`));
    };
    const timer = setTimeout(() => fail(`nothing printed in ${readyTimeoutMs} ms`), readyTimeoutMs);
    service.once('exit', (code) => fail(`exit code ${code}`));
    service.once('error', (error) => fail(error.message));
    if (service.stdout === null) return fail('no standard output');
    createInterface({ input: service.stdout }).once('line', (line) => {
      clearTimeout(timer);
      service.removeAllListeners('exit');
      resolve(JSON.parse(line));
    });
  });
}

/** Throws for 0, which would signal all processes of this process's group. */
export function signalProcess(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || !(pid > 0)) throw new RangeError(`${pid} is no process to signal`);
  process.kill(pid, signal);
}

/** Children of a process, read from the kernel; none of a process that is gone. */
function children(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** Empty for a process that has just ended. */
function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function brokerPid(service: number): number {
  const isBroker = (pid: number): boolean =>
    commandLine(pid).some((word) => word.endsWith('nats/nats.conf'));
  return children(service).find(isBroker) ?? 0;
}

function enginePid(service: number): number {
  const isEngine = (pid: number): boolean =>
    commandLine(pid).some((word) => word.endsWith('sql/engine/main.js'));
  return children(service).find(isEngine) ?? 0;
}

/** Of a keeper, its service. */
function ingestPids(service: number): number[] {
  const script = join(root, 'dist', 'main.js');
  return children(service).filter((pid) => commandLine(pid).includes(script));
}

/** Empty where the service needs none. */
function engineUrl(pid: number, outside: (path: string) => string): string {
  if (pid === 0) return '';
  const words = commandLine(pid);
  const after = (flag: string): string => outside(words[words.indexOf(flag) + 1] ?? '');
  const password = readFileSync(after('--password-file'), 'utf8');
  return socketUrl(after('--socket'), 'millrace', password);
}

// A child that was asked to end may still write for a moment.
async function removeWhenQuiet(directory: string): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    try {
      rmSync(directory, { recursive: true, force: true });
      return;
    } catch {
      await delay(100);
    }
  }
}

/** Of a kept service. */
export function keeperOf(stack: Stack): number {
  const status = readFileSync(`/proc/${stack.pids().service}/status`, 'utf8');
  return Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]);
}

/** Its members end with the service, and answer until then. */
export function killService(stack: Stack): Promise<unknown> {
  const pids = [stack.pids().service, ...stack.ingestPids()];
  stack.kill9('service');
  return eventually(
    async () => pids.some(isServing),
    (serving) => !serving,
  );
}

/** A process that has ended may wait for its parent to see it. */
function isServing(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
