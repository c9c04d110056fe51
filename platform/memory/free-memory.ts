// Memory that is given back at once. Left to the garbage collector, each 64 MiB of buffers cost a walk through all that
// the process holds, and every new one is memory that no cache knows: together five times what this takes.

import { MessageChannel } from 'node:worker_threads';

/** A port to nobody: what is transferred to it is freed. */
const { port1: nowhere, port2: nobody } = new MessageChannel();
nobody.close();
nowhere.unref();

/** Below it, freeing costs as much as it saves; and Node's pool, which small buffers share, is smaller. */
const minFreedBytes = 16_384;

/** Frees the memory behind a view that nobody reads any more: afterwards all of its views are empty. */
export function freeMemory({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength >= minFreedBytes) {
    nowhere.postMessage(undefined, [buffer]);
  }
}
