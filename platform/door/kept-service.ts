// The file in the data directory by which `npm run restart` finds a service that has a keeper, and sees when it serves.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { holderOf } from '../engines/data-lock.ts';

export interface KeptService {
  pid: number;
  isServing: boolean;
}

const fileOf = (dataDir: string): string => join(dataDir, 'kept-service.json');

/** Of this process. On a full disk it serves all the same, and is not found. */
export function tellKept(dataDir: string, isServing: boolean): void {
  try {
    const text = JSON.stringify({ pid: process.pid, isServing });
    writeFileSync(fileOf(dataDir), text, { mode: 0o600 });
  } catch {}
}

export function forgetKept(dataDir: string): void {
  rmSync(fileOf(dataDir), { force: true });
}

/** Undefined where none runs: the file of a process that was killed says nothing. */
export function readKept(dataDir: string): KeptService | undefined {
  try {
    const { pid, isServing } = Object(JSON.parse(readFileSync(fileOf(dataDir), 'utf8')));
    return pid === holderOf(dataDir) ? { pid, isServing: isServing === true } : undefined;
  } catch {
    return undefined;
  }
}
