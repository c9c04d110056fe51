// Starts the processes of a bench: the load generator, the sink, the gateway and an engine, each in its own process.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Target } from '../../../test/harness/requests/exhaustion.ts';
import type { DearQuestions } from '../load/dear-questions.ts';
import type { LoadOptions, LoadResult } from '../load/load.ts';
import type { ShopShare } from '../shop/batches.ts';
import type { Failing, ReceivedDeliveries } from '../webhooks/receiving.ts';
import { type ChildTask, parentFd } from './child-task.ts';

export async function runLoadProcess(options: LoadOptions): Promise<LoadResult> {
  const child = startChild({ role: 'load', options });
  try {
    return JSON.parse(await child.nextLine());
  } finally {
    await child.stop();
  }
}

/** Attacks until it is stopped; resolves once the attack begins. */
export async function startAttackProcess(
  attack: string,
  target: Target,
  share: number,
): Promise<{ stop(): Promise<void> }> {
  const { baseUrl, publicKey } = target;
  const child = startChild({ role: 'attack', attack, share, target: { baseUrl, publicKey } });
  await child.nextLine();
  return child;
}

/** Asks until it is stopped; `stop` resolves with the number of answers of each status. */
export function startDearQuestions(asked: DearQuestions): {
  stop(): Promise<Readonly<Record<string, number>>>;
} {
  const child = startChild({ role: 'dear questions', asked });
  return {
    async stop() {
      child.write('how many?\n');
      const statuses = JSON.parse(await child.nextLine());
      await child.stop();
      return statuses;
    },
  };
}

/** Resolves once the share is stored; `onStored` is called after each batch. */
export async function storeShopShare(share: ShopShare, onStored: () => void): Promise<void> {
  const child = startChild({ role: 'shop', share });
  try {
    while ((await child.nextLine()) === 'stored') onStored();
  } finally {
    await child.stop();
  }
}

export interface ServerProcess {
  baseUrl: string;
  pid: number;
  stop(): Promise<void>;
}

/** It gives every request the same answer. */
export function startSinkProcess(answer: string): Promise<ServerProcess> {
  return startServer({ role: 'sink', answer });
}

/** Ingest without a broker: it reads, validates and answers, and queues nothing. */
export function startGatewayProcess(publicKey: string): Promise<ServerProcess> {
  return startServer({ role: 'gateway', publicKey });
}

export interface EndpointsProcess {
  /** Of each endpoint. */
  ports: number[];
  /** Different deliveries since the last report. */
  count(): Promise<number>;
  /** What came since the last report. */
  report(): Promise<ReceivedDeliveries>;
  /** From now on these endpoints fail. */
  fail(failing: Failing): Promise<void>;
  stop(): Promise<void>;
}

/** Endpoints of webhooks, which answer at once. */
export async function startEndpointsProcess(count: number): Promise<EndpointsProcess> {
  const child = startChild({ role: 'endpoints', count });
  const ask = async (line: string) => {
    child.write(`${line}\n`);
    return JSON.parse(await child.nextLine());
  };
  return {
    ports: JSON.parse(await child.nextLine()),
    count: () => ask('count'),
    report: () => ask('report'),
    fail: (failing) => ask(JSON.stringify(failing)),
    stop: () => child.stop(),
  };
}

/** Sends the deliveries that are at the broker; stopped, it ends without finishing any. */
export async function startDispatcherProcess(
  natsUrl: string,
): Promise<{ pid: number; stop(): Promise<void> }> {
  const child = startChild({ role: 'dispatcher', natsUrl });
  await child.nextLine();
  return child;
}

async function startServer(task: ChildTask): Promise<ServerProcess> {
  const child = startChild(task);
  const baseUrl = `http://127.0.0.1:${await child.nextLine()}`;
  return { baseUrl, pid: child.pid, stop: () => child.stop() };
}

export interface OwnEngine {
  /** The HTTP interface's, with the database. */
  url: string;
  pid: number;
  /**
   * Runs a statement of one line straight in the engine; calls that run at once resolve in the order in which
   * statements end.
   */
  command(sql: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startEngineProcess(path: string, database: string): Promise<OwnEngine> {
  const child = startChild({ role: 'engine', path, database });
  const url = await child.nextLine();
  return {
    url,
    pid: child.pid,
    async command(sql) {
      child.write(`${sql}\n`);
      await child.nextLine();
    },
    stop: () => child.stop(),
  };
}

interface Child {
  pid: number;
  write(text: string): void;
  /** The next line the child prints; rejects when it ends before. */
  nextLine(): Promise<string>;
  /** Closes the child's input, at which it ends. */
  stop(): Promise<void>;
}

function startChild(task: ChildTask): Child {
  // An extra pipe, not the standard input: chDB takes text there for the data of a running insert.
  const child = spawn(process.execPath, [childScript(), JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const { stdout, stdio } = child;
  const input = stdio[parentFd];
  if (stdout === null || !(input instanceof Writable)) throw new Error('a child has no pipes');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => resolve());
  });
  return {
    pid: child.pid ?? 0,
    write: (text) => void input.write(text),
    async nextLine() {
      const { value, done } = await lines.next();
      if (done !== true) return value;
      await ended;
      throw new Error(`the bench's ${task.role} process ended early: ${howItEnded(child)}`);
    },
    async stop() {
      input.end();
      await ended;
    },
  };
}

function howItEnded({ exitCode, signalCode }: ChildProcess): string {
  return signalCode ?? `exit code ${exitCode}`;
}

// Node cannot run TypeScript by itself: a bench that runs from its source starts the built child.
function childScript(): string {
  const beside = join(import.meta.dirname, 'child.js');
  return existsSync(beside)
    ? beside
    : join(import.meta.dirname, '../../../dist/bench/harness/processes/child.js');
}
