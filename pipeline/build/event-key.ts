// The 64-bit key of an event within its shard, which the seen-set holds instead of project and event id:
// HalfSipHash-1-3 of the id, keyed per project with a secret of this process, so that nobody can choose an id whose key
// is that of another project's event.

import { createHmac } from 'node:crypto';

/** Keys outlive a batch, so they are bounded: a shard with more projects than this derives their keys again. */
const maxProjects = 10_000;

export class EventKeys {
  readonly #secret: Uint8Array;
  readonly #projectKeys = new Map<string, Uint32Array>();

  /** `secret` is random and stays in this process; keys of different secrets do not compare. */
  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** The key under which a project's ids are hashed. */
  projectKey(projectId: string): Uint32Array {
    const known = this.#projectKeys.get(projectId);
    if (known !== undefined) return known;
    const digest = createHmac('sha256', this.#secret).update(projectId).digest();
    const key = new Uint32Array([digest.readUInt32LE(0), digest.readUInt32LE(4)]);
    if (this.#projectKeys.size >= maxProjects) this.#projectKeys.clear();
    this.#projectKeys.set(projectId, key);
    return key;
  }
}

/** HalfSipHash's rounds: one for each of the id's four words, one for its length, then three for either half. */
const lengthRound = 4;
const highRound = 7;
const lastRound = 10;
const idBytes = 16;

/**
 * Writes the key of an event id into `keys[at]` and `keys[at + 1]`: never zero in both, because zeros mark a free slot
 * in tables. `id` holds the id's four words from `idAt` on.
 */
export function writeEventKey(
  projectKey: Uint32Array,
  id: Uint32Array,
  idAt: number,
  keys: Uint32Array,
  at: number,
): void {
  const k0 = projectKey[0] ?? 0;
  const k1 = projectKey[1] ?? 0;
  let v0 = k0 | 0;
  let v1 = k1 ^ 0xee;
  let v2 = 0x6c796765 ^ k0;
  let v3 = 0x74656462 ^ k1;
  let high = 0;
  for (let round = 0; round <= lastRound; round++) {
    let word = 0;
    if (round < lengthRound) word = id[idAt + round] ?? 0;
    else if (round === lengthRound) word = idBytes << 24;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
    if (round === lengthRound) v2 ^= 0xee;
    else if (round === highRound) {
      high = v1 ^ v3;
      v1 ^= 0xdd;
    }
  }
  const low = v1 ^ v3;
  keys[at] = high;
  keys[at + 1] = (high | low) === 0 ? 1 : low;
}
