// The keys that sign access tokens, in a file of the data directory. A new key signs new tokens; a replaced key still
// proves the tokens that it signed, until the last of them has expired.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Clock } from '../../platform/clock.ts';
import {
  createPrivateJson,
  readPrivateRecord,
  replacePrivateJson,
} from '../../platform/secrets/private-file.ts';

/** The only algorithm that tokens are signed with, and the only one accepted. */
export const signingAlgorithm = 'EdDSA';

interface SigningKey {
  id: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
}

export interface SigningKeys {
  /** The key that signs new tokens. */
  current(): Promise<SigningKey>;
  /** A current or replaced key; undefined if the file has no key of this id. */
  find(id: string): Promise<SigningKey | undefined>;
}

interface StoredKey {
  id: string;
  jwk: JWK;
  /** Absent on the current key. */
  replacedAtMs?: number;
}

interface KeyFile {
  schemaVersion: 1;
  /** The last key signs. */
  keys: StoredKey[];
}

// An unknown key id may be of a key that another process has just made. Made-up ids must not cost a file read each.
const reloadEveryMs = 1_000;

export function signingKeysPath(dataDir: string): string {
  return join(dataDir, 'signing-keys.json');
}

/** Opens the keys, and makes one at the first start. Throws one sentence if the file cannot be used. */
export async function openSigningKeys(dataDir: string, clock: Clock): Promise<SigningKeys> {
  const path = signingKeysPath(dataDir);
  createPrivateJson(path, { schemaVersion: 1, keys: [await newStoredKey()] });
  let keys = await loadKeys(path);
  let loadedMtimeMs = statSync(path).mtimeMs;
  let lookedAtMs = clock.nowMs();
  const reload = async (): Promise<void> => {
    lookedAtMs = clock.nowMs();
    const mtimeMs = statSync(path).mtimeMs;
    if (mtimeMs === loadedMtimeMs) return;
    keys = await loadKeys(path);
    loadedMtimeMs = mtimeMs;
  };
  return {
    async current() {
      await reload();
      const last = [...keys.values()].at(-1);
      if (last === undefined) throw new Error(`${path} holds no key`);
      return last;
    },
    async find(id) {
      if (!keys.has(id) && Math.abs(clock.nowMs() - lookedAtMs) >= reloadEveryMs) await reload();
      return keys.get(id);
    },
  };
}

/**
 * Adds a key that signs from now on. Drops keys that were replaced more than `tokenLifetimeMs` ago: none of their
 * tokens is still valid.
 */
export async function rotateSigningKey(
  dataDir: string,
  options: { clock: Clock; tokenLifetimeMs: number },
): Promise<void> {
  const path = signingKeysPath(dataDir);
  const nowMs = options.clock.nowMs();
  const { keys } = readPrivateRecord(path, isKeyFile);
  const kept = keys
    .map((key) => ({ ...key, replacedAtMs: key.replacedAtMs ?? nowMs }))
    .filter((key) => nowMs - key.replacedAtMs <= options.tokenLifetimeMs);
  replacePrivateJson(path, { schemaVersion: 1, keys: [...kept, await newStoredKey()] });
}

async function newStoredKey(): Promise<StoredKey> {
  const pair = await generateKeyPair(signingAlgorithm, { crv: 'Ed25519', extractable: true });
  return { id: crypto.randomUUID(), jwk: await exportJWK(pair.privateKey) };
}

async function loadKeys(path: string): Promise<Map<string, SigningKey>> {
  const loaded = await Promise.all(
    readPrivateRecord(path, isKeyFile).keys.map(
      async ({ id, jwk }): Promise<[string, SigningKey]> => {
        const { d: _private, ...publicJwk } = jwk;
        const privateKey = await importJWK({ ...jwk, kty: 'OKP' }, signingAlgorithm);
        const publicKey = await importJWK({ ...publicJwk, kty: 'OKP' }, signingAlgorithm);
        if (privateKey instanceof Uint8Array || publicKey instanceof Uint8Array) {
          throw new Error(`${path} holds a key of another kind`);
        }
        return [id, { id, privateKey, publicKey }];
      },
    ),
  );
  return new Map(loaded);
}

function isKeyFile(value: unknown): value is KeyFile {
  if (typeof value !== 'object' || value === null) return false;
  const { schemaVersion, keys } = value as Partial<KeyFile>;
  return (
    schemaVersion === 1 &&
    Array.isArray(keys) &&
    keys.length > 0 &&
    keys.every((key) => typeof key?.id === 'string' && typeof key.jwk?.d === 'string')
  );
}
