// What tests make once and use until its sources change: directories in node_modules/.cache, each named after a hash of
// what it was made of.

import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './source-tree.ts';

/** The folder of these directories. */
export const madeOnce = join(root, 'node_modules', '.cache', 'millrace');

/** A directory to make one in, on the same disk. */
export function newDirectory(): string {
  mkdirSync(madeOnce, { recursive: true });
  return mkdtempSync(join(madeOnce, 'making-'));
}

/** Gives `made` the name `kept`, unless another test process was first: its directory is the same. */
export function keepFirst(made: string, kept: string): void {
  try {
    renameSync(made, kept);
  } catch {
    rmSync(made, { recursive: true, force: true });
  }
}
