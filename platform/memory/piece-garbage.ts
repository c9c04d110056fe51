// Has V8 collect the buffers of received pieces before they are many. Nobody can free a piece of HTTP/2 by hand: its
// memory holds frames of other streams too.

/** Twice as much may lie around: a read of 32 KiB takes 64 KiB. */
const collectedBytes = 32 * 1_048_576;

/** One for a port. */
export class PieceGarbage {
  #bytes = 0;

  /**
   * Call it for each piece. Left to itself, V8 may collect pieces late: on a busy machine, once in twenty times, an
   * attack with 164 MiB of them grew the process by 300 MiB, because none was freed before its end. Does nothing
   * without `--expose-gc`.
   */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < collectedBytes) return;
    this.#bytes = 0;
    // Young objects alone: a tenth of a millisecond to a few.
    globalThis.gc?.({ type: 'minor' });
  }
}
