// Small files that only this user may read: keys and generated passwords in the data directory. A file is written whole
// or not at all, so a crash leaves the old content or the new one.

import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** The parsed content. Throws one sentence where others can read the file or it is no JSON. */
export function readPrivateJson(path: string): unknown {
  if ((statSync(path).mode & 0o077) !== 0) {
    throw new Error(
      `${path} can be read by other users: chmod 600 it, after thinking about who did`,
    );
  }
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path} is damaged: put it back from a backup`, { cause: error });
  }
}

/** Like readPrivateJson, narrowed by `is`; throws one sentence where the file holds something else. */
export function readPrivateRecord<T>(path: string, is: (value: unknown) => value is T): T {
  const value = readPrivateJson(path);
  if (!is(value)) throw new Error(`${path} is damaged: put it back from a backup`);
  return value;
}

/** Replaces the content by `value`. */
export function replacePrivateJson(path: string, value: unknown): void {
  const next = writeBeside(path, value);
  renameSync(next, path);
  syncDirectory(path);
}

/** Writes the file only where none exists; false where one does. */
export function createPrivateJson(path: string, value: unknown): boolean {
  if (existsSync(path)) return false;
  const next = writeBeside(path, value);
  try {
    linkSync(next, path);
  } catch (error) {
    if (existsSync(path)) return false;
    throw error;
  } finally {
    rmSync(next, { force: true });
  }
  syncDirectory(path);
  return true;
}

function writeBeside(path: string, value: unknown): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${randomUUID()}`;
  const file = openSync(next, 'wx', 0o600);
  try {
    writeSync(file, `${JSON.stringify(value, null, 2)}\n`);
    fsyncSync(file);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return next;
}

function syncDirectory(path: string): void {
  const directory = openSync(dirname(path), 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
