// Decides which frames are packed for the broker: those where the bytes saved are worth the time. How a frame is packed
// is proto/wire/frame.ts's.

import { packFrame } from '../../proto/wire/frame.ts';

/** Below this size a message costs the broker the same, however small it is. */
const minBytes = 2_048;
/** A packed frame that is larger than this share of the original is not worth unpacking. */
const maxShare = 0.8;
/** After a frame that was not worth packing, one is skipped; after the next, two; then four, up to this many. */
const maxSkipped = 64;

/** Remembers how well the last frames packed; one for each publisher. */
export class FramePacking {
  readonly #isOn: boolean;
  /** Frames still to be skipped. */
  #left = 0;
  /** Frames that the last failure caused to be skipped. */
  #skipped = 0;

  constructor(isOn: boolean) {
    this.#isOn = isOn;
  }

  /** The bytes to send: packed, or `frame` itself. */
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
