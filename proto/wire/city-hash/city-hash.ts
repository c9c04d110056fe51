// CityHash128 in its version 1.0.2, by which ClickHouse checks packed blocks, with the WebAssembly module that is
// compiled from assembly/.

import { instantiate } from '../web-assembly.ts';

/** The address of the input in the module's memory. */
const input = 65_536;
/** The address of the hash. */
const result = 64;

/**
 * Returns a function that hashes at least 8 bytes into 16, the low half first, as a view that is valid until its next
 * call. It throws where memory cannot grow. One per thread: its memory stays as large as the largest input so far.
 */
export function createCityHash(): (bytes: Uint8Array) => Uint8Array {
  const module = instantiate(new URL('city-hash.wasm', import.meta.url), {});
  const reserve = module.exported('reserve');
  const hash = module.exported('hash');
  return (bytes) => {
    if (reserve(bytes.length) === 0) throw new Error('no memory for a hash');
    new Uint8Array(module.memory.buffer).set(bytes, input);
    hash(bytes.length);
    return new Uint8Array(module.memory.buffer, result, 16);
  };
}
