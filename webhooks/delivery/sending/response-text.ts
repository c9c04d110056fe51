// What is read of an endpoint's answer: the beginning of its body, whatever the rest is.

import type { Readable } from 'node:stream';

export const maxResponseBytes = 16 * 1_024;

/**
 * Reads at most `maxResponseBytes` and destroys the rest with its connection; a shorter body leaves the connection
 * for the next request. Throws where the body ends before its time. A compressed body is not unpacked, and gives an
 * empty text: nobody asked for it.
 */
export async function readResponseText(body: Readable, isCompressed: boolean): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue;
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop destroys the stream.
    if (bytes >= maxResponseBytes) break;
  }
  return isCompressed ? '' : beginningOf(Buffer.concat(chunks).subarray(0, maxResponseBytes));
}

/** Bytes that are no UTF-8 become replacement characters, which are longer: so the text is cut again. */
function beginningOf(bytes: Buffer): string {
  const text = decodeWholeCharacters(bytes);
  if (Buffer.byteLength(text) <= maxResponseBytes) return text;
  return decodeWholeCharacters(Buffer.from(text).subarray(0, maxResponseBytes));
}

function decodeWholeCharacters(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
