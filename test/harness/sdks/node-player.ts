// A process of its own in which an SDK of Node plays. node-plays.mjs has what each does.

import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../source-tree.ts';
import type { Player, Stage } from './player.ts';

const script = 'node-plays.mjs';

export function placePlays(folder: string): void {
  cpSync(join(root, 'test', 'harness', 'sdks', script), join(folder, script));
}

/** Resolves once the SDK has played. */
export async function startNodePlayer(
  sdk: string,
  { customer, gate }: Stage,
  { folder, past }: { folder: string; past: string },
): Promise<Player> {
  const child = spawn(process.execPath, [script, sdk, gate.url, customer.key, past], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines = new Lines(child, sdk);
  await lines.told('played');
  return {
    sdk,
    customer,
    gate,
    track(event) {
      child.stdin.write(`${event}\n`);
      return lines.told(`settled ${event}`);
    },
    async end() {
      const ended = lines.ended();
      child.stdin.end('last\nend\n');
      await ended;
    },
  };
}

/** What a child has printed on its standard output, line by line. */
class Lines {
  readonly #told = new Set<string>();
  readonly #waiting = new Map<string, () => void>();
  readonly #exit: Promise<number | null>;
  readonly #sdk: string;
  #errors = '';

  constructor(child: ChildProcess, sdk: string) {
    this.#sdk = sdk;
    this.#exit = new Promise((resolve) => child.once('exit', resolve));
    child.stderr?.on('data', (bytes: Buffer) => {
      this.#errors = `${this.#errors}${bytes}`.slice(-2_000);
    });
    if (child.stdout === null) throw new Error('it prints nowhere');
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.#told.add(line);
      this.#waiting.get(line)?.();
    });
  }

  /** Rejects where the child ends first. */
  async told(line: string): Promise<void> {
    if (this.#told.has(line)) return;
    const early = this.#exit.then((code) => {
      throw new Error(`${this.#sdk} ended with ${code} before "${line}": ${this.#errors}`);
    });
    early.catch(() => {});
    await Promise.race([early, new Promise<void>((resolve) => this.#waiting.set(line, resolve))]);
  }

  /** Rejects where the child ends with another code than 0. */
  async ended(): Promise<void> {
    const code = await this.#exit;
    if (code !== 0) throw new Error(`${this.#sdk} ended with ${code}: ${this.#errors}`);
  }
}
