// Which frames are packed on their way to the broker: those where the bytes saved are worth the time. Packing itself is
// in proto/wire/frame.ts.

import { packFrame } from '../../proto/wire/frame.ts';

/** Below it, a message costs the broker the same however few bytes it has. */
const minBytes = 2_048;
/** A packed frame that is a larger share of the plain one is not worth unpacking. */
const maxShare = 0.8;
/** After a frame that was not worth it one is not tried, after the next two, and so on up to this many. */
const maxSkipped = 64;

/** Remembers what was not worth it: one for each process. */
export class FramePacking {
  readonly #isOn: boolean;
  /** Frames still not to be tried, and how many it were in all. */
  #left = 0;
  #skipped = 0;

  constructor(isOn: boolean) {
    this.#isOn = isOn;
  }

  /** The bytes to be sent for `frame`: packed, or `frame` itself. */
  pack(frame: Uint8Array): Uint8Array {
    if (!this.#isOn || frame.length < minBytes) return frame;
    if (this.#left > 0) {
      this.#left--;
      return frame;
    }
    const packed = packFrame(frame, frame.length * maxShare);
    this.#skipped = packed === undefined ? Math.min(maxSkipped, 2 * this.#skipped || 1) : 0;
    this.#left = this.#skipped;
    return packed ?? frame;
  }
}
