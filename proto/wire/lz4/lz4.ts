// Packs and unpacks LZ4 blocks with the WebAssembly module that is compiled from assembly/. A block does not hold its
// raw length: its owner keeps the length too.

import { instantiate } from '../web-assembly.ts';

export interface Lz4 {
  /** The block of `raw`, as a view that is valid until the next call. Throws where memory cannot grow. */
  compress(raw: Uint8Array): Uint8Array;
  /**
   * The `rawLength` bytes that were packed, as a view that is valid until the next call. Undefined where `block` is no
   * block of exactly that many bytes. Throws where memory cannot grow, so bound `rawLength` first.
   */
  decompress(block: Uint8Array, rawLength: number): Uint8Array | undefined;
}

/** The address of the input in the module's memory. */
const input = 131_072;

/** One per thread: its memory stays as large as the largest input and output so far. */
export function createLz4(): Lz4 {
  const module = instantiate(new URL('lz4.wasm', import.meta.url), {});
  const reserve = module.exported('reserve');
  const compress = module.exported('compress');
  const decompress = module.exported('decompress');
  const outputOf = module.exported('outputOf');
  const worstOf = module.exported('worstOf');

  function put(bytes: Uint8Array, outputLength: number): void {
    if (reserve(bytes.length, outputLength) === 0) throw new Error('lz4: out of memory');
    new Uint8Array(module.memory.buffer).set(bytes, input);
  }

  function output(inputLength: number, length: number): Uint8Array {
    return new Uint8Array(module.memory.buffer, outputOf(inputLength), length);
  }

  return {
    compress(raw) {
      put(raw, worstOf(raw.length));
      return output(raw.length, compress(raw.length));
    },
    decompress(block, rawLength) {
      put(block, rawLength);
      if (decompress(block.length, rawLength) === 0) return undefined;
      return output(block.length, rawLength);
    },
  };
}
