// What the writer does at once: some messages of its shard, as they arrived, as they are read again after a crash, and
// as they are handed to a builder.

import { freeMemory } from '../../platform/memory/free-memory.ts';
import type { Messages } from '../build/thread-messages.ts';
import type { EventStream, StreamMessage } from './event-stream.ts';

/** Messages of a shard in stream order. */
export interface MessageBatch {
  messages: readonly StreamMessage[];
}

const noBytes = new Uint8Array();
/** Messages read at once. */
const readsAtOnce = 16;

/** The messages of a pending batch again, by sequence; undefined where one of them is gone. */
export async function readAgain(
  stream: EventStream,
  ranges: readonly (readonly [number, number])[],
): Promise<MessageBatch | undefined> {
  const messages: StreamMessage[] = [];
  for (const [first, last] of ranges) {
    for (let from = first; from <= last; from += readsAtOnce) {
      const count = Math.min(readsAtOnce, last - from + 1);
      const seqs = Array.from({ length: count }, (_, index) => from + index);
      for (const message of await Promise.all(seqs.map((seq) => stream.stored(seq)))) {
        if (message === undefined) return undefined;
        messages.push(message);
      }
    }
  }
  return { messages };
}

/**
 * A copy of the batch's bytes in one buffer, to be transferred to a builder: in `memory` where that is large enough, so
 * that megabytes are not left to the garbage collector with each batch.
 */
export function packMessages({ messages }: MessageBatch, memory = new ArrayBuffer(0)): Messages {
  let size = 0;
  for (const message of messages) size += message.data.length;
  const roomy = memory.byteLength >= size ? memory : new ArrayBuffer(size + (size >>> 2));
  const bytes = new Uint8Array(roomy, 0, size);
  const seqs = new Float64Array(messages.length);
  const lengths = new Uint32Array(messages.length);
  let at = 0;
  for (const [index, message] of messages.entries()) {
    bytes.set(message.data, at);
    at += message.data.length;
    seqs[index] = message.seq;
    lengths[index] = message.data.length;
  }
  return { seqs, lengths, bytes };
}

/** Frees the bytes of a batch that has been built: what is left is what its acks need. */
export function forgetBytes({ messages }: MessageBatch): void {
  for (const message of messages) {
    freeMemory(message.data);
    message.data = noBytes;
  }
}
