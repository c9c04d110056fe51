// Runs the built import command as a user does, in a folder of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../source-tree.ts';

export interface Finished {
  code: number | null;
  out: string;
  err: string;
}

interface Running {
  child: ChildProcess;
  finished: Promise<Finished>;
}

const built = join(root, 'dist', 'history', 'import.js');

/** `input` is its standard input. */
export function startImport(args: readonly string[], cwd: string, input?: string): Running {
  const child = spawn(process.execPath, [built, ...args], { cwd });
  const finished: Finished = { code: null, out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    finished.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    finished.err += chunk;
  });
  child.stdin.end(input);
  return {
    child,
    finished: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ ...finished, code }));
    }),
  };
}
