// Encrypts the secrets inside records with the instance key, a file in the data directory: a copy of the broker's data
// alone reveals no password. Secrets that need not be read back are hashed elsewhere, not sealed here.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createPrivateJson, readPrivateRecord, replacePrivateJson } from './private-file.ts';

export interface SecretBox {
  /**
   * AES-256-GCM under the current key. `purpose` names the record and field: a sealed text that is moved to another
   * field does not open there.
   */
  seal(plain: string, purpose: string): string;
  /** Undefined where the key is gone, the text was changed or the purpose is a different one. */
  open(sealed: string, purpose: string): string | undefined;
  /** Whether the text is sealed under a key other than the current one. */
  isStale(sealed: string): boolean;
}

interface KeyFile {
  schemaVersion: 1;
  current: string;
  /** The key that waits until every data directory has a copy of this file. It seals nothing before. */
  next?: string;
  keys: Record<string, string>;
}

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
const keyBytes = 32;

/** The key file, `<data>/instance-key.json`. */
export function instanceKeyPath(dataDir: string): string {
  return join(dataDir, 'instance-key.json');
}

/** Opens the instance key; makes one at the first start. Throws one sentence where the file cannot be used. */
export function openSecretBox(dataDir: string): SecretBox {
  const path = instanceKeyPath(dataDir);
  const id = newKeyId();
  createPrivateJson(path, { schemaVersion: 1, current: id, keys: { [id]: newKey() } });
  let file = readPrivateRecord(path, isKeyFile);
  let readAtMs = statSync(path).mtimeMs;
  // The operator may rotate the key from another process while this one runs.
  const reload = (): void => {
    const changedAtMs = statSync(path).mtimeMs;
    if (changedAtMs === readAtMs) return;
    file = readPrivateRecord(path, isKeyFile);
    readAtMs = changedAtMs;
  };
  return {
    seal(plain, purpose) {
      reload();
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, keyOf(file, file.current), iv);
      cipher.setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      const sealed = Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
      return `sealed.${file.current}.${sealed}`;
    },
    open(sealed, purpose) {
      const [, id = '', body = ''] = sealed.split('.');
      if (file.keys[id] === undefined) reload();
      if (file.keys[id] === undefined) return undefined;
      return decrypt(Buffer.from(body, 'base64url'), keyOf(file, id), purpose);
    },
    isStale(sealed) {
      reload();
      return sealed.split('.')[1] !== file.current;
    },
  };
}

/** Adds the next key, unless one waits already. */
export function addNextInstanceKey(dataDir: string): void {
  const path = instanceKeyPath(dataDir);
  const file = readPrivateRecord(path, isKeyFile);
  if (file.next !== undefined) return;
  const next = newKeyId();
  replacePrivateJson(path, { ...file, next, keys: { ...file.keys, [next]: newKey() } });
}

export function hasNextInstanceKey(dataDir: string): boolean {
  return readPrivateRecord(instanceKeyPath(dataDir), isKeyFile).next !== undefined;
}

/** Makes the next key the current one, or a new one. Texts sealed by older keys open until `dropOldInstanceKeys`. */
export function changeInstanceKey(dataDir: string): void {
  const path = instanceKeyPath(dataDir);
  const { next = newKeyId(), ...file } = readPrivateRecord(path, isKeyFile);
  // One write: a process that read the file between two, within one tick of its time, would not read it again.
  const keys = { [next]: newKey(), ...file.keys };
  replacePrivateJson(path, { ...file, current: next, keys });
}

/** Forgets every key but the current one: texts still sealed under another are lost. */
export function dropOldInstanceKeys(dataDir: string): void {
  const path = instanceKeyPath(dataDir);
  const file = readPrivateRecord(path, isKeyFile);
  const current = file.keys[file.current];
  replacePrivateJson(path, { ...file, keys: { [file.current]: current } });
}

function decrypt(bytes: Buffer, key: Buffer, purpose: string): string | undefined {
  if (bytes.length < ivBytes + tagBytes) return undefined;
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(purpose));
  decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  try {
    const body = decipher.update(bytes.subarray(ivBytes + tagBytes));
    return Buffer.concat([body, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

function keyOf(file: KeyFile, id: string): Buffer {
  return Buffer.from(file.keys[id] ?? '', 'base64');
}

function newKeyId(): string {
  return randomBytes(6).toString('hex');
}

function newKey(): string {
  return randomBytes(keyBytes).toString('base64');
}

function isKeyFile(value: unknown): value is KeyFile {
  if (typeof value !== 'object' || value === null) return false;
  const { schemaVersion, current, next = current, keys } = value as Partial<KeyFile>;
  if (schemaVersion !== 1 || typeof current !== 'string' || typeof next !== 'string') return false;
  if (typeof keys !== 'object' || keys === null) return false;
  if (keys[current] === undefined || keys[next] === undefined) return false;
  return Object.values(keys).every(
    (key) => typeof key === 'string' && Buffer.from(key, 'base64').length === keyBytes,
  );
}
