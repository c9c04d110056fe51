// Memory for bodies that arrive in several pieces, bounded and used again: otherwise the garbage collector counts every
// piece twice. Knows sizes only, no requests.

/** All bodies that are arriving; past it, further ones are left to node:http, whose route refuses senders. */
const maxHeldBytes = 64 * 1_048_576;
/** Memory of this size is kept for the next body, at most so many times. */
const keptBytes = 131_072;
const maxKept = 32;

export class BodyMemory {
  readonly #kept: Buffer[] = [];
  #heldBytes = 0;

  hasRoomFor(bytes: number): boolean {
    return this.#heldBytes + bytes <= maxHeldBytes;
  }

  /** Memory of `bytes` or more, until it is released. */
  hold(bytes: number): Buffer {
    const kept = bytes <= keptBytes ? this.#kept.pop() : undefined;
    const memory = kept ?? Buffer.allocUnsafeSlow(Math.max(bytes, keptBytes));
    this.#heldBytes += memory.length;
    return memory;
  }

  release(memory: Buffer): void {
    this.#heldBytes -= memory.length;
    if (memory.length === keptBytes && this.#kept.length < maxKept) this.#kept.push(memory);
  }
}
