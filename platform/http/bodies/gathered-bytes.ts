// Bytes that come in pieces, joined in memory of a lease. The pieces themselves are not kept: a body of single bytes
// would cost hundreds of times its length.

import type { Lease } from './request-memory.ts';

/** `busy`: there is no room for the piece. */
export type Added = 'added' | 'too_large' | 'busy';

const firstBytes = 4_096;

export class GatheredBytes {
  readonly #lease: Lease;
  readonly #maxBytes: number;
  readonly #expectedBytes: number;
  #memory: Buffer<ArrayBuffer> | undefined;
  #length = 0;

  /** `expectedBytes` may be wrong. Memory is taken for bytes that came, unless it is reserved. */
  constructor(lease: Lease, maxBytes: number, expectedBytes = maxBytes) {
    this.#lease = lease;
    this.#maxBytes = maxBytes;
    this.#expectedBytes = expectedBytes;
  }

  /** Takes the memory for all expected bytes before any of them comes; false where there is no room. */
  reserve(): boolean {
    return this.#grow(this.#expectedBytes);
  }

  /** After any result but `added`, the bytes are incomplete. */
  add(piece: Uint8Array): Added {
    const needed = this.#length + piece.length;
    if (needed > this.#maxBytes) return 'too_large';
    if (needed > (this.#memory?.length ?? 0) && !this.#grow(needed)) return 'busy';
    this.#memory?.set(piece, this.#length);
    this.#length = needed;
    return 'added';
  }

  /** Valid until the lease ends or `drop`. */
  bytes(): Buffer<ArrayBuffer> {
    return this.#memory?.subarray(0, this.#length) ?? Buffer.alloc(0);
  }

  drop(): void {
    if (this.#memory !== undefined) this.#lease.free(this.#memory);
    this.#memory = undefined;
  }

  #grow(needed: number): boolean {
    const old = this.#memory;
    const doubled = Math.max(needed, 2 * (old?.length ?? firstBytes / 2));
    const end = needed <= this.#expectedBytes ? this.#expectedBytes : this.#maxBytes;
    const memory = this.#lease.allocate(Math.min(doubled, end));
    if (memory === undefined) return false;
    if (old !== undefined) {
      memory.set(old.subarray(0, this.#length));
      this.#lease.free(old);
    }
    this.#memory = memory;
    return true;
  }
}
