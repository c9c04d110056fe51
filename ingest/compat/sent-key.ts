// Finds the key of another vendor's SDK: where its family has it, or in the bytes of a body.

import type { IncomingMessage } from 'node:http';
import type { CollectEndpoint, SentHead, SentKey } from './endpoint.ts';

/** A raw key's form, wherever it stands. */
const keyForm = /(?:pub|prv)_[0-9A-Za-z]{42}/;

/** That of the first endpoint which finds one. */
export function firstKey(
  endpoints: readonly CollectEndpoint[],
  head: SentHead,
  json: unknown,
): SentKey | undefined {
  for (const { keyOf } of endpoints) {
    const key = keyOf(head, json);
    if (key !== undefined) return key;
  }
  return undefined;
}

/** A key costs a search of the bytes: without one that opens something, the body is not parsed. */
export function keyInText(
  text: Buffer,
  request: Pick<IncomingMessage, 'method'>,
): SentKey | undefined {
  const [key] = keyForm.exec(text.toString('latin1')) ?? [];
  if (key === undefined) return undefined;
  return { text: key, from: request.method === 'GET' ? 'url' : 'body' };
}
