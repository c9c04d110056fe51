// Writes a file to a bucket and looks whether it is there as it was sent: some servers answer 200 to what they store
// otherwise, and an ETag proves nothing. Small files are read back whole; of larger ones the size is looked at, beside
// the hash that the endpoint was to hold the bytes against.

import { createHash } from 'node:crypto';
import type { ObjectBody, ObjectStore } from './object-store.ts';
import { StoreFailure } from './store-failure.ts';

/** What is read back costs its owner as much as what is sent. */
const wholeBytes = 8 * 1_048_576;

/** Throws StoreFailure, also where something else is there. */
export async function putAndReadBack(
  store: Pick<ObjectStore, 'put' | 'head' | 'get'>,
  key: string,
  body: ObjectBody,
  signal: AbortSignal,
): Promise<void> {
  await store.put(key, body, signal);
  if (body.bytes > wholeBytes) {
    const found = await store.head(key, signal);
    if (found?.bytes !== body.bytes) throw otherwise(found === undefined);
    return;
  }
  const found = await store.get(key, body.bytes, signal);
  if (found === undefined || sha256Of(found) !== body.sha256) throw otherwise(found === undefined);
}

export function bodyOf(text: string): ObjectBody {
  const data = Buffer.from(text);
  return { data, bytes: data.length, sha256: sha256Of(data) };
}

export function sha256Of(data: Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function otherwise(isGone: boolean): StoreFailure {
  return new StoreFailure(
    isGone
      ? 'a file that was written cannot be found there'
      : 'a file is there otherwise than it was sent',
  );
}
