// Keeps the ports of a service that it runs as its child, and starts the service again when it was killed or asks for
// it: meanwhile connections wait. Answers nobody by itself, and loads next to nothing, because its memory comes on top.

import { type ChildProcess, fork } from 'node:child_process';
import { constants } from 'node:os';
import { AnswerWithHandle, ProcessLink } from '../members/process-link.ts';
import { type BoundPort, bindPort } from './bound-port.ts';
import { type Begun, keptWord } from './keeper.ts';

const restartDelayMs = 250;
// No longer than a request waits for the broker, unless it is told otherwise: the next start answers those that wait.
const maxRestartDelayMs = 4_000;

/** Ends this process with the service: where that ends by itself, or was killed before it ever served. */
export class ServiceKeeper {
  readonly #script: string;
  readonly #args: readonly string[];
  readonly #ports = new Map<string, BoundPort>();
  #child: ChildProcess | undefined;
  #hasServed = false;
  #isEnding = false;
  #isFollowed = false;
  #delayMs = restartDelayMs;
  #away: { sinceMs: number; killedBy?: string } | undefined;

  constructor(script: string, args: readonly string[]) {
    this.#script = script;
    this.#args = args;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => this.#end(signal));
    }
    this.#start();
  }

  /** A second signal ends the service at once. */
  #end(signal: NodeJS.Signals): void {
    if (this.#child === undefined) process.exit(0);
    if (this.#isEnding) {
      this.#child.kill('SIGKILL');
      process.exit(130);
    }
    this.#isEnding = true;
    this.#child.kill(signal);
  }

  #start(): void {
    this.#isFollowed = false;
    try {
      this.#child = this.#fork();
    } catch (error) {
      // Of a machine without memory for a process Node says so by throwing; it may pass.
      this.#couldNotStart(error);
    }
  }

  #fork(): ChildProcess {
    // In the same session: Linux gives each session a share of the cores, and a service that is in another one than its
    // senders spent a fifth more CPU on a request.
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    const child = fork(this.#script, [keptWord, ...this.#args], { stdio: [...stdio] });
    new ProcessLink(child, {
      bind: (about) => this.#bind(about),
      begin: () => this.#begun(),
      serving: () => {
        this.#hasServed = true;
        this.#delayMs = restartDelayMs;
        this.#away = undefined;
      },
      startAgain: () => {
        this.#isFollowed = true;
        this.#away = { sinceMs: performance.now() };
      },
    });
    child.once('exit', (code, signal) => this.#ended(code, signal));
    child.on('error', (error) => {
      if (child.pid === undefined) this.#couldNotStart(error);
    });
    return child;
  }

  #couldNotStart(error: unknown): void {
    process.stderr.write(`millrace: the service cannot be started: ${error}\n`);
    if (!this.#hasServed) process.exit(1);
    this.#child = undefined;
    this.#startLater();
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    this.#child = undefined;
    if (this.#isFollowed && !this.#isEnding) {
      this.#start();
      return;
    }
    if (this.#isEnding || signal === null || !this.#hasServed) {
      process.exit(code ?? 128 + constants.signals[signal ?? 'SIGKILL']);
    }
    this.#away = { sinceMs: this.#away?.sinceMs ?? performance.now(), killedBy: signal };
    this.#startLater();
  }

  #startLater(): void {
    setTimeout(() => this.#start(), this.#delayMs);
    this.#delayMs = Math.min(this.#delayMs * 2, maxRestartDelayMs);
  }

  /** The port's number beside its handle, or the system's code. */
  async #bind(about: unknown): Promise<AnswerWithHandle | string> {
    const { host, port } = Object(about);
    const keyOf = (number: unknown): string => `${host} ${number}`;
    const outcome = this.#ports.get(keyOf(port)) ?? (await bindPort(String(host), Number(port)));
    if (outcome.kind === 'refused') return outcome.code;
    // A free port is asked for by 0 at each start, and by its number within one.
    for (const number of [port, outcome.port]) this.#ports.set(keyOf(number), outcome);
    return new AnswerWithHandle(outcome.port, outcome.handle);
  }

  #begun(): Begun {
    const { sinceMs = performance.now(), killedBy } = this.#away ?? {};
    return {
      isAgain: this.#hasServed,
      waitedMs: performance.now() - sinceMs,
      ...(killedBy !== undefined && { killedBy }),
    };
  }
}
