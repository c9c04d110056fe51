// Decompresses bodies, a few at a time, each holder in turn: a body of 8 kB can be 8 MiB of work and memory. What an
// inflated body holds is counted as it grows.

import { availableParallelism } from 'node:os';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { freeMemory } from '../../memory/free-memory.ts';
import { type Added, GatheredBytes } from './gathered-bytes.ts';
import type { Lease } from './request-memory.ts';

/** The decompressed bytes, valid until the lease ends. */
export type Inflated =
  | { kind: 'received'; bytes: Buffer<ArrayBuffer> }
  | { kind: Exclude<Added, 'added'> | 'undecodable' };

const methods = { gzip: createGunzip, br: createBrotliDecompress };
export type Encoding = keyof typeof methods;

export function isEncoding(name: string): name is Encoding {
  return Object.hasOwn(methods, name);
}

// A core is left to the event loop, and of the four threads that do the work one to file system and host names.
const maxAtOnce = Math.max(1, Math.min(3, availableParallelism() - 1));
/** One step of a thread, by how much a short body may grow. Many small steps cost three times the CPU of few. */
const stepPerSentByte = 64;
const minStepBytes = 65_536;
const maxStepBytes = 524_288;

export class Inflations {
  #running = 0;
  /** By holder, the one whose turn is next first. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Never rejects. `sent` must stay as it is until then. */
  async inflate(
    encoding: Encoding,
    sent: Uint8Array,
    lease: Lease,
    maxBytes: number,
  ): Promise<Inflated> {
    await this.#turn(lease.holder);
    try {
      return await inflateInto(new GatheredBytes(lease, maxBytes), encoding, sent);
    } finally {
      this.#next();
    }
  }

  #turn(holder: string): Promise<void> | undefined {
    if (this.#running < maxAtOnce) {
      this.#running++;
      return undefined;
    }
    return new Promise((begin) => {
      const queue = this.#waiting.get(holder);
      if (queue === undefined) this.#waiting.set(holder, [begin]);
      else queue.push(begin);
    });
  }

  /** Hands the turn on to the next holder, which then waits behind all others. */
  #next(): void {
    for (const [holder, queue] of this.#waiting) {
      const begin = queue.shift();
      this.#waiting.delete(holder);
      if (queue.length > 0) this.#waiting.set(holder, queue);
      begin?.();
      return;
    }
    this.#running--;
  }
}

function inflateInto(
  gathered: GatheredBytes,
  encoding: Encoding,
  sent: Uint8Array,
): Promise<Inflated> {
  const chunkSize = Math.min(maxStepBytes, Math.max(minStepBytes, stepPerSentByte * sent.length));
  const stream = methods[encoding]({ chunkSize });
  return new Promise((resolve) => {
    let last: Buffer | undefined;
    stream.on('data', (piece: Buffer) => {
      const added = gathered.add(piece);
      // The bytes are copied: a step's memory is done with once the next step has another.
      if (last !== undefined && last.buffer !== piece.buffer) freeMemory(last);
      last = piece;
      if (added === 'added') return;
      gathered.drop();
      stream.destroy();
      resolve({ kind: added });
    });
    stream.once('end', () => {
      if (last !== undefined) freeMemory(last);
      resolve({ kind: 'received', bytes: gathered.bytes() });
    });
    stream.on('error', () => resolve({ kind: 'undecodable' }));
    stream.end(sent);
  });
}
