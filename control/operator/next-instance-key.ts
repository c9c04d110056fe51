// The next instance key. It waits in the key file until every data directory has a copy of that file, and seals nothing
// before: what one process seals all the others can open then. All else about the file
// is platform/secrets/secret-box.ts's, which passes the field `next` over.

import { randomBytes } from 'node:crypto';
import { readPrivateRecord, replacePrivateJson } from '../../platform/secrets/private-file.ts';
import { instanceKeyPath } from '../../platform/secrets/secret-box.ts';

/** What is read here of the key file; all else in it is kept. */
interface KeyFile {
  /** The id of the key that waits. */
  next?: string;
  keys: Record<string, unknown>;
}

const idBytes = 6;
const keyBytes = 32;

/** Adds the next key, unless one waits already. */
export function addNextInstanceKey(dataDir: string): void {
  const path = instanceKeyPath(dataDir);
  const file = readPrivateRecord(path, isKeyFile);
  if (file.next !== undefined) return;
  const next = randomBytes(idBytes).toString('hex');
  const keys = { ...file.keys, [next]: randomBytes(keyBytes).toString('base64') };
  replacePrivateJson(path, { ...file, next, keys });
}

export function hasNextInstanceKey(dataDir: string): boolean {
  return readPrivateRecord(instanceKeyPath(dataDir), isKeyFile).next !== undefined;
}

/** Makes the next key the one that seals. False where none waits. */
export function sealWithNextInstanceKey(dataDir: string): boolean {
  const path = instanceKeyPath(dataDir);
  const { next, ...file } = readPrivateRecord(path, isKeyFile);
  if (next === undefined) return false;
  replacePrivateJson(path, { ...file, current: next });
  return true;
}

function isKeyFile(value: unknown): value is KeyFile {
  if (typeof value !== 'object' || value === null) return false;
  const keys: unknown = Reflect.get(value, 'keys');
  const next: unknown = Reflect.get(value, 'next');
  if (typeof keys !== 'object' || keys === null) return false;
  return next === undefined || (typeof next === 'string' && Object.hasOwn(keys, next));
}
