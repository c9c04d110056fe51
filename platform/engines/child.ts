// Keeps a child process alive: starts it again when it dies or no longer answers, ends it when its owner says so. No
// process stands between us and the child, so that its end and its id are its own. It never outlives us: its standard
// input is a pipe that closes with this process, and a guard ends a child that does not watch its input.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Log } from '../log.ts';
import { type Pings, Rest, watchAnswers } from './pings.ts';

/** What a line of the child's output says. */
interface ChildLine {
  /** For the operator, where it is the last line of a child that could not start. */
  text: string;
  isReady: boolean;
}

interface ChildOptions {
  name: string;
  command: string;
  args: readonly string[];
  /** Whether the child ends by itself once its standard input closes. */
  watchesInput: boolean;
  /** Reads, and may log, each line that the child writes on stdout or stderr. */
  readLine: (line: string) => ChildLine;
  readyTimeoutMs: number;
  /** Absent, only the child's end makes it start again. */
  pings?: Pings;
  /** Hears of each end, and when the next one is ready; not of the first start and the last end. */
  onStanding?: (isThere: boolean) => void;
  log: Log;
}

export interface SupervisedChild {
  /** The child's process id, for reports; changes when it is started again. */
  pid(): number | undefined;
  /** Sends SIGTERM, and SIGKILL after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

interface Launched {
  process: ChildProcess;
  /** Never settles where the child ends before. */
  ready: Promise<void>;
  lastLine(): string;
}

const restartDelayMs = 250;
const maxRestartDelayMs = 5_000;

/** Starts the child and waits until it is ready; throws one sentence where the first start fails. */
export async function superviseChild(options: ChildOptions): Promise<SupervisedChild> {
  const { name, log, pings } = options;
  let stopping = false;
  let delayMs = restartDelayMs;
  const rest = pings && new Rest(pings);
  let child = launch(options);
  await firstReady(child, options);

  function watch(): void {
    onEnd(child.process, (how) => {
      if (stopping) return;
      options.onStanding?.(false);
      log.error({ child: name, ...how }, 'a child died, starting it again');
      restartLater();
    });
  }

  function restartLater(): void {
    setTimeout(() => {
      if (!stopping) restart();
    }, delayMs);
    delayMs = Math.min(delayMs * 2, maxRestartDelayMs);
  }

  function restart(): void {
    try {
      child = launch(options);
    } catch (error) {
      // A machine without memory for a process may have some later.
      log.error({ err: error, child: name }, 'a child could not be started');
      restartLater();
      return;
    }
    watch();
    const late = setTimeout(
      () => log.error({ child: name }, 'a child is not ready'),
      options.readyTimeoutMs,
    );
    onEnd(child.process, () => clearTimeout(late));
    void child.ready.then(() => {
      clearTimeout(late);
      delayMs = restartDelayMs;
      options.onStanding?.(true);
      keepAnswering();
    });
  }

  /** Call it when the child is ready: a start may take longer than a silence may last. */
  function keepAnswering(): void {
    if (pings === undefined || rest === undefined) return;
    const watched = child.process;
    const stopAsking = watchAnswers(pings, rest, () => {
      log.error({ child: name }, 'a child does not answer any more, ending it');
      watched.kill('SIGKILL');
    });
    onEnd(watched, stopAsking);
  }

  watch();
  keepAnswering();

  return {
    pid: () => child.process.pid,
    async stop(graceMs) {
      stopping = true;
      await end(child.process, graceMs);
    },
  };
}

/** Sends SIGTERM, and SIGKILL after `graceMs`; resolves at the child's end. */
async function end(child: ChildProcess, graceMs: number): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => onEnd(child, () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await ended;
  clearTimeout(timer);
}

/** Calls `then` once the child has ended or could not be started: Node says `exit` only of a child that ran. */
function onEnd(child: ChildProcess, then: (how: object) => void): void {
  child.once('exit', (code, signal) => then({ code, signal }));
  child.once('error', (err) => {
    if (child.pid === undefined) then({ err });
  });
}

/** Rejects with the child's own last line where it ends before it is ready. */
async function firstReady(child: Launched, { name, readyTimeoutMs }: ChildOptions): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const failed = new Promise<never>((_, reject) => {
    const fail = (why: string): void => reject(new Error(`${name} cannot be started: ${why}`));
    child.process.once('error', (error) => fail(error.message));
    // Not on `exit`, which may come before the last line.
    child.process.once('close', (code, signal) =>
      fail(child.lastLine() || `it ended with ${signal ?? `code ${code}`}`),
    );
    timer = setTimeout(() => fail(`it is not ready after ${readyTimeoutMs} ms`), readyTimeoutMs);
  });
  // A failure after readiness is the restart's concern.
  failed.catch(() => {});
  try {
    await Promise.race([child.ready, failed]);
  } catch (error) {
    child.process.kill('SIGKILL');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

// The child has its own process group: Ctrl-C in a terminal must reach this process alone, which ends its children.
function launch({ command, args, watchesInput, readLine }: ChildOptions): Launched {
  const started = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  // Out of descriptors, a child has no streams either; `error` says why.
  if (started.pid === undefined)
    return { process: started, ready: new Promise(() => {}), lastLine: () => '' };
  started.stdin.on('error', () => {});
  try {
    if (!watchesInput) guard(started);
  } catch (error) {
    // It would go on beside the next one, and after us.
    started.kill('SIGKILL');
    throw error;
  }
  let lastLine = '';
  const ready = new Promise<void>((resolve) => {
    const read = (line: string): void => {
      const { text, isReady } = readLine(line);
      lastLine = text || lastLine;
      if (isReady) resolve();
    };
    for (const stream of [started.stdout, started.stderr]) {
      createInterface({ input: stream }).on('line', read);
    }
  });
  return { process: started, ready, lastLine: () => lastLine };
}

/** Ends the child once this process is gone. A process beside the child: where the guard dies, the child does not. */
function guard(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const script = 'cat >/dev/null; kill -TERM "$0"';
  const beside = spawn('/bin/sh', ['-c', script, String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  beside.on('error', () => {});
  beside.stdin.on('error', () => {});
  child.once('exit', () => {
    // Before its input closes: another process may have the child's id by now.
    beside.kill('SIGKILL');
    beside.stdin.destroy();
  });
}
