// Keeps a child process alive: starts it again when it dies or no longer answers, ends it when its owner says so. The
// child's standard input is a pipe that closes with this process, so a child that watches it never outlives us.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Log } from '../log.ts';
import { type Pings, watchAnswers } from './pings.ts';

interface ChildOptions {
  name: string;
  command: string;
  args: readonly string[];
  /** Gets each line that the child writes on stdout or stderr. */
  onLine: (line: string) => void;
  /** Resolves when the child answers; rejects once it has not in time. */
  ready: () => Promise<void>;
  /** Absent, only the child's end makes it start again. */
  pings?: Pings;
  log: Log;
}

export interface SupervisedChild {
  /** The child's process id, for reports; changes when it is started again. */
  pid(): number | undefined;
  /** Sends SIGTERM, and SIGKILL after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

const restartDelayMs = 250;
const maxRestartDelayMs = 5_000;

/** Starts the child and waits until it is ready; throws where the first start fails. */
export async function superviseChild(options: ChildOptions): Promise<SupervisedChild> {
  let stopping = false;
  let delayMs = restartDelayMs;
  let child = launch(options);

  function watch(): void {
    child.once('exit', (code, signal) => {
      if (stopping) return;
      options.log.error({ child: options.name, code, signal }, 'a child died, starting it again');
      setTimeout(() => {
        if (stopping) return;
        child = launch(options);
        watch();
        options.ready().then(
          () => {
            delayMs = restartDelayMs;
            keepAnswering();
          },
          (error) => options.log.error({ err: error, child: options.name }, 'a child is not ready'),
        );
      }, delayMs);
      delayMs = Math.min(delayMs * 2, maxRestartDelayMs);
    });
    child.once('error', (error) => {
      options.log.error({ err: error, child: options.name }, 'a child could not be started');
    });
  }

  /** Call it when the child is ready: a start may take longer than a silence may last. */
  function keepAnswering(): void {
    if (options.pings === undefined) return;
    const watched = child;
    const stopAsking = watchAnswers(options.pings, () => {
      options.log.error({ child: options.name }, 'a child does not answer any more, ending it');
      watched.kill('SIGKILL');
    });
    watched.once('exit', stopAsking);
  }

  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${options.name} ended with code ${code}`)));
  });
  try {
    await Promise.race([options.ready(), failed]);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  failed.catch(() => {});
  watch();
  keepAnswering();

  return {
    pid: () => child.pid,
    async stop(graceMs) {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

// The child has its own process group: Ctrl-C in a terminal must reach this process alone, which ends its children.
function launch({ command, args, onLine }: ChildOptions): ChildProcess {
  const started = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  started.stdin?.on('error', () => {});
  for (const stream of [started.stdout, started.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', onLine);
  }
  return started;
}
