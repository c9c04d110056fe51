// The 64-bit name of an event within its shard: what the seen-set holds instead of project and event id.
// HalfSipHash-1-3 of the id, keyed per project with a secret of this process: nobody can choose an id that falls on
// another project's.

import { createHmac } from 'node:crypto';

/** Longer-lived than a batch, so bounded: a shard with more projects than this derives their keys again. */
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

const state = new Int32Array(4);

/**
 * Writes the key of an event id into `keys[at]` and `keys[at + 1]`; never zero in both, which is how tables mark a free
 * slot. `id` holds the id's words from `idAt` on.
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
  state[0] = k0;
  state[1] = k1 ^ 0xee;
  state[2] = 0x6c796765 ^ k0;
  state[3] = 0x74656462 ^ k1;
  for (let word = 0; word < 4; word++) absorb(id[idAt + word] ?? 0);
  absorb(16 << 24);
  state[2] = (state[2] ?? 0) ^ 0xee;
  rounds(3);
  const high = ((state[1] ?? 0) ^ (state[3] ?? 0)) >>> 0;
  state[1] = (state[1] ?? 0) ^ 0xdd;
  rounds(3);
  const low = ((state[1] ?? 0) ^ (state[3] ?? 0)) >>> 0;
  keys[at] = high;
  keys[at + 1] = (high | low) === 0 ? 1 : low;
}

function absorb(word: number): void {
  state[3] = (state[3] ?? 0) ^ word;
  rounds(1);
  state[0] = (state[0] ?? 0) ^ word;
}

/** SipHash's round on 32-bit words, `count` times. */
function rounds(count: number): void {
  let v0 = state[0] ?? 0;
  let v1 = state[1] ?? 0;
  let v2 = state[2] ?? 0;
  let v3 = state[3] ?? 0;
  for (let round = 0; round < count; round++) {
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
  }
  state[0] = v0;
  state[1] = v1;
  state[2] = v2;
  state[3] = v3;
}
