// A server as a child process of one test, and its failures: killed, frozen, started again on the same port and
// directory. Ends only processes that it started. What runs in the child is for engine.ts and broker.ts to say.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface ChildServer {
  url: string;
  /** The server's data; survives kill9 and restart. */
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

interface ServerProgram {
  /** Names the server in errors and in its temporary directory. */
  name: string;
  /** The port that makes the server take a free one; any number where it has a socket in its directory. */
  freePort: number;
  /** Fills a temporary directory before the first start. */
  prepare?(dir: string): void;
  /** The command line; called before each start. */
  command(dir: string, port: number): readonly string[];
  env?: NodeJS.ProcessEnv;
  /** A reader of the lines that one process prints: returns the port once the server listens. */
  createReadiness(): (line: string) => number | undefined;
  urlOf(port: number, dir: string): string;
}

const startTimeoutMs = 120_000;
const stopTimeoutMs = 5_000;
const maxKeptLines = 100;
// setpriv lets the kernel end the server with the test process, however that dies.
const setpriv = '/usr/bin/setpriv';

/** Starts the program in `givenDir` or a temporary directory; resolves when it is ready. */
export async function startChildServer(
  program: ServerProgram,
  givenDir?: string,
): Promise<ChildServer> {
  const dir = givenDir ?? mkdtempSync(join(tmpdir(), `millrace-${program.name}-`));
  if (givenDir === undefined) program.prepare?.(dir);
  let { child, port } = await launch(program, dir, program.freePort);
  const killOnExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killOnExit);

  return {
    url: program.urlOf(port, dir),
    dir,
    pid: () => child.pid ?? 0,
    async stop() {
      process.off('exit', killOnExit);
      child.kill('SIGCONT');
      await end(child, 'SIGTERM');
      if (givenDir === undefined) rmSync(dir, { recursive: true, force: true });
    },
    kill9: () => end(child, 'SIGKILL'),
    async restart() {
      await end(child, 'SIGTERM');
      ({ child, port } = await launch(program, dir, port));
    },
    pause() {
      child.kill('SIGSTOP');
      untilStopped(child.pid ?? 0);
    },
    resume: () => void child.kill('SIGCONT'),
  };
}

async function launch(
  program: ServerProgram,
  dir: string,
  port: number,
): Promise<{ child: ChildProcess; port: number }> {
  const command = program.command(dir, port);
  const [binary = '', ...args] = existsSync(setpriv)
    ? [setpriv, '--pdeathsig', 'KILL', ...command]
    : command;
  const child = spawn(binary, args, { stdio: ['pipe', 'pipe', 'pipe'], env: program.env });
  return { child, port: await listeningPort(program, child) };
}

function listeningPort(program: ServerProgram, child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    const fail = (why: string): void => {
      clearTimeout(timer);
      reject(new Error(`the ${program.name} ${why}\n${lines.join('\n')}`));
    };
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(`is not ready after ${startTimeoutMs} ms`);
    }, startTimeoutMs);
    child.once('error', reject);
    child.once('exit', (code) => fail(`ended with code ${code}`));
    const readiness = program.createReadiness();
    const read = (line: string): void => {
      if (lines.length < maxKeptLines) lines.push(line);
      const port = readiness(line);
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(port);
    };
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', read);
    }
  });
}

/** A thread that computes stops a moment after the signal: an answer may leave meanwhile. */
function untilStopped(pid: number): void {
  const tasks = `/proc/${pid}/task`;
  const endMs = performance.now() + stopTimeoutMs;
  const isStopped = (): boolean =>
    readdirSync(tasks).every((id) => / [TZX] /.test(readFileSync(`${tasks}/${id}/stat`, 'utf8')));
  while (!isStopped() && performance.now() < endMs);
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  await gone;
}
