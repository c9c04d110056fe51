// The operator's command as a child process: run to its end, or killed at some moment.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../source-tree.ts';

export interface AdminRun {
  /** Null of a command that was killed. */
  code: number | null;
  out: string;
  error: string;
}

export interface RunningAdmin {
  child: ChildProcess;
  ended: Promise<AdminRun>;
}

export function startAdmin(
  dataDir: string,
  words: readonly string[],
  settings: Record<string, string> = {},
): RunningAdmin {
  const args = [join(root, 'dist', 'admin.js'), '--data', dataDir, ...words];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { out: '', error: '' };
  child.stdout?.on('data', (piece) => {
    texts.out += String(piece);
  });
  child.stderr?.on('data', (piece) => {
    texts.error += String(piece);
  });
  const ended = new Promise<AdminRun>((resolve) => {
    child.once('close', (code) => resolve({ code, ...texts }));
  });
  return { child, ended };
}

export function admin(
  dataDir: string,
  words: readonly string[],
  settings: Record<string, string> = {},
): Promise<AdminRun> {
  return startAdmin(dataDir, words, settings).ended;
}
