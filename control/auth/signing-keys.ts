// The keys that sign access tokens, in a file of the data directory. A new key signs new tokens; a replaced key, of
// which only the public half stays, proves the tokens that it signed until the last of them has expired. Every process
// looks at the file once a second.

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../platform/clock.ts';
import {
  createPrivateJson,
  readPrivateRecord,
  replacePrivateJson,
} from '../../platform/secrets/private-file.ts';

/** The only algorithm that tokens are signed with, and the only one accepted. */
export const signingAlgorithm = 'EdDSA';

interface VerifyingKey {
  id: string;
  publicKey: KeyObject;
}

interface SigningKey extends VerifyingKey {
  privateKey: KeyObject;
}

export interface SigningKeys {
  /** The key that signs new tokens. Throws one sentence where the file cannot be used. */
  current(): SigningKey;
  /** A key whose tokens count; undefined for others, and for all where the file cannot be used. Mostly a look-up. */
  find(id: string): VerifyingKey | undefined;
}

interface StoredKey {
  id: string;
  /** A replaced key has its public half only. */
  jwk: JsonWebKey;
  /** Absent on the current key. */
  replacedAtMs?: number;
}

interface KeyFile {
  schemaVersion: 1;
  /** The last key signs. */
  keys: StoredKey[];
}

interface LoadedKeys {
  /** The file's state that was read: a file that was replaced has another. */
  version: string;
  signing: SigningKey;
  byId: ReadonlyMap<string, VerifyingKey & { replacedAtMs?: number }>;
}

// A dropped key ends within this time in every process, for the price of one look at the file's times.
const lookEveryMs = 1_000;

export function signingKeysPath(dataDir: string): string {
  return join(dataDir, 'signing-keys.json');
}

/** Opens the keys, and makes one at the first start. Throws one sentence if the file cannot be used. */
export function openSigningKeys(
  dataDir: string,
  options: { clock: Clock; tokenLifetimeMs: number },
): SigningKeys {
  const { clock, tokenLifetimeMs } = options;
  const path = signingKeysPath(dataDir);
  createPrivateJson(path, { schemaVersion: 1, keys: [newStoredKey()] });
  let loaded: LoadedKeys | undefined = loadKeys(path);
  let lookedAtMs = clock.nowMs();
  const look = (): LoadedKeys => {
    lookedAtMs = clock.nowMs();
    if (loaded?.version === versionOf(path)) return loaded;
    loaded = undefined;
    loaded = loadKeys(path);
    return loaded;
  };
  const lookNowAndThen = (): void => {
    if (Math.abs(clock.nowMs() - lookedAtMs) < lookEveryMs) return;
    try {
      look();
    } catch {
      // No key counts while the file cannot be used: it may be missing because somebody took it. `current` says so.
      loaded = undefined;
    }
  };
  return {
    current: () => look().signing,
    find(id) {
      lookNowAndThen();
      const key = loaded?.byId.get(id);
      if (key?.replacedAtMs === undefined) return key;
      return clock.nowMs() - key.replacedAtMs <= tokenLifetimeMs ? key : undefined;
    },
  };
}

/**
 * Adds a key that signs from now on. Keys that were replaced more than `tokenLifetimeMs` ago go: none of their tokens
 * is still valid. With `dropOld` all others go at once, and with them every token that they signed.
 */
export function rotateSigningKey(
  dataDir: string,
  options: { clock: Clock; tokenLifetimeMs: number; dropOld: boolean },
): void {
  const path = signingKeysPath(dataDir);
  const nowMs = options.clock.nowMs();
  const { keys } = readPrivateRecord(path, isKeyFile);
  const kept = keys
    .map(({ id, jwk, replacedAtMs = nowMs }) => ({ id, jwk: publicHalf(jwk), replacedAtMs }))
    .filter((key) => !options.dropOld && nowMs - key.replacedAtMs <= options.tokenLifetimeMs);
  replacePrivateJson(path, { schemaVersion: 1, keys: [...kept, newStoredKey()] });
}

function newStoredKey(): StoredKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { id: crypto.randomUUID(), jwk: privateKey.export({ format: 'jwk' }) };
}

function publicHalf({ d: _private, ...jwk }: JsonWebKey): JsonWebKey {
  return jwk;
}

function loadKeys(path: string): LoadedKeys {
  // Taken first: a file that is replaced meanwhile is read again at the next look.
  const version = versionOf(path);
  const { keys } = readPrivateRecord(path, isKeyFile);
  const last = keys.at(-1);
  if (last === undefined) throw new Error(`${path} holds no key`);
  try {
    const byId = new Map(keys.map((key) => [key.id, verifyingKey(key)]));
    const privateKey = createPrivateKey({ key: last.jwk, format: 'jwk' });
    return { version, signing: { ...verifyingKey(last), privateKey }, byId };
  } catch (error) {
    throw new Error(`${path} holds a key of another kind`, { cause: error });
  }
}

function verifyingKey({ id, jwk, replacedAtMs }: StoredKey) {
  const publicKey = createPublicKey({ key: publicHalf(jwk), format: 'jwk' });
  return { id, publicKey, ...(replacedAtMs !== undefined && { replacedAtMs }) };
}

function versionOf(path: string): string {
  const { mtimeMs, ino } = statSync(path);
  return `${ino} ${mtimeMs}`;
}

function isKeyFile(value: unknown): value is KeyFile {
  if (typeof value !== 'object' || value === null) return false;
  const { schemaVersion, keys } = value as Partial<KeyFile>;
  return (
    schemaVersion === 1 &&
    Array.isArray(keys) &&
    keys.length > 0 &&
    keys.every((key) => typeof key?.id === 'string' && typeof key.jwk?.x === 'string') &&
    typeof keys.at(-1)?.jwk.d === 'string'
  );
}
