// A real nats-server with JetStream for one test: its own temporary directory and free port, and the ways a broker
// fails: killed, frozen, started again. It ends only the process it started; nothing here is a fake.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { embeddedBrokerPayloadBytes } from '../../../platform/limits.ts';

export interface TestBroker {
  url: string;
  /** What the broker keeps; survives kill9 and restart. */
  dir: string;
  /** The process's id; changes with restart. */
  pid(): number;
  /** Ends the server and removes the directory, unless the caller gave it. */
  stop(): Promise<void>;
  /** SIGKILL; resolves when the process is gone. */
  kill9(): Promise<void>;
  /** Starts the server again on the same port and directory, ending it first where it still runs. */
  restart(): Promise<void>;
  /** Freezes the server: connections stay open and silent. */
  pause(): void;
  resume(): void;
}

const startTimeoutMs = 20_000;
// setpriv lets the kernel end the server with the test process, however that dies.
const setpriv = '/usr/bin/setpriv';

export interface BrokerOptions {
  dir?: string;
  /** Added to nats-server's configuration, for users, storage limits and the like. */
  configuration?: Record<string, unknown>;
  maxFileStoreBytes?: number;
}

export async function startBroker(options: BrokerOptions = {}): Promise<TestBroker> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'millrace-broker-'));
  let { child, port } = await launch(dir, -1, options);
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);

  return {
    url: `nats://127.0.0.1:${port}`,
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
      ({ child, port } = await launch(dir, port, options));
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
}

/** `port` -1 takes a free one. Resolves when the server accepts clients, JetStream included. */
async function launch(
  dir: string,
  port: number,
  options: BrokerOptions,
): Promise<{ child: ChildProcess; port: number }> {
  const configFile = join(dir, 'nats.conf');
  const configuration = {
    host: '127.0.0.1',
    port,
    max_payload: embeddedBrokerPayloadBytes,
    // Without it nats-server offers three quarters of what the disk has free, which other tests change all the time.
    jetstream: { store_dir: dir, max_file_store: options.maxFileStoreBytes ?? 2 ** 40 },
    ...options.configuration,
  };
  writeFileSync(configFile, JSON.stringify(configuration));
  const command = ['nats-server', '-c', configFile];
  const [binary = '', ...args] = existsSync(setpriv)
    ? [setpriv, '--pdeathsig', 'KILL', ...command]
    : command;
  const child = spawn(binary, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  return { child, port: await listeningPort(child) };
}

function listeningPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    let port = 0;
    const fail = (why: string) => reject(new Error(`nats-server ${why}\n${lines.join('\n')}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(`is not ready after ${startTimeoutMs} ms`);
    }, startTimeoutMs);
    child.once('error', reject);
    child.once('exit', (code) => fail(`ended with code ${code}`));
    if (child.stderr === null) return fail('has no stderr');
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (lines.length < 100) lines.push(line);
      port = Number(/client connections on 127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? port);
      if (!line.includes('Server is ready')) return;
      clearTimeout(timer);
      resolve(port);
    });
  });
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  await gone;
}
