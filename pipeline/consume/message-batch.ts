// A batch: the messages of a shard that the writer builds and stores at once. They arrive with message-source.ts, are
// read again here after a crash, and are packed here for a builder's thread.

import { freeMemory } from '../../platform/memory/free-memory.ts';
import type { Messages } from '../build/thread-messages.ts';
import type { EventStream, StreamMessage } from './event-stream.ts';

/** Messages of a shard in stream order. */
export interface MessageBatch {
  messages: readonly StreamMessage[];
  /** Every message up to this sequence is in this batch or in an earlier one; absent: up to the batch's last one. */
  completeTo?: number;
}

const noBytes = new Uint8Array();
/** Messages read at once. */
const readsAtOnce = 16;

/** Reads the messages of a pending batch again, by ranges of sequences; undefined where one of them is gone. */
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
 * Copies the batch's bytes into one buffer, to be transferred to a builder: into `memory` where that is large enough,
 * so that no batch leaves megabytes to the garbage collector.
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

/** When the broker stored the newest of the messages; undefined where that is unknown of one. */
export function newestMsOf({ messages }: MessageBatch): number | undefined {
  let newestMs = 0;
  for (const { storedMs } of messages) {
    if (storedMs === undefined) return undefined;
    newestMs = Math.max(newestMs, storedMs);
  }
  return newestMs;
}

/** Frees the bytes of a batch that has been built. The messages keep what their acks need. */
export function forgetBytes({ messages }: MessageBatch): void {
  for (const message of messages) {
    freeMemory(message.data);
    message.data = noBytes;
  }
}
