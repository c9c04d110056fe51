// Reads the bytes of a result over HTTP and tells a whole one from one that a failure ended: ClickHouse has answered
// 200 by then, and puts the error behind the bytes.

import type { IncomingMessage } from 'node:http';
import { EXCEPTION_TAG_HEADER_NAME, extractErrorAtTheEndOfChunk } from '@clickhouse/client';

/** The longest error behind a result: the server's own bound is 16 KiB. */
const heldBytes = 32_768;
const exceptionMark = '__exception__';

/** Holds the last bytes back until the end is seen. Throws ClickHouseError, and the network's own error. */
export async function* resultBytes(
  response: IncomingMessage,
): AsyncGenerator<Buffer, void, undefined> {
  const tag = response.headers[EXCEPTION_TAG_HEADER_NAME];
  let held: Buffer[] = [];
  let heldLength = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    held.push(chunk);
    heldLength += chunk.length;
    for (let [first] = held; first && heldLength - first.length >= heldBytes; [first] = held) {
      held = held.slice(1);
      heldLength -= first.length;
      yield first;
    }
  }
  const last = Buffer.concat(held);
  if (tag !== undefined && last.toString('latin1').endsWith(`${tag}\r\n${exceptionMark}\r\n`)) {
    throw extractErrorAtTheEndOfChunk(last, String(tag));
  }
  if (last.length > 0) yield last;
}
