// A hash set of 64-bit keys in one typed array, and its fingerprints, which take three eighths of the memory: 24 bits
// of each key at the key's place. Keys are hashes already, so their low bits are their place.

const wordsPerSlot = 2;
/** The load of a full table. At it, a look-up of a key that is not there passes eight slots. */
const maxLoad = 0.75;
export const slotBytes = 8;
export const fingerprintBytes = 3;

/**
 * Of each slot. With two full tables one batch in twenty has a new row that seems to be here. By sixteen bits alone a
 * dozen rows of every batch would, and asking event_ids for them takes the engine 50 ms of CPU, 1 us for each event.
 */
export interface Fingerprints {
  /** Sixteen bits, zero in free slots. */
  readonly first: Uint16Array;
  /** Eight more, which are hardly ever read. */
  readonly rest: Uint8Array;
}

/** Open addressing; a slot of two zeros is free, because no key is zero. */
export class KeyTable {
  #words: Uint32Array;
  #count = 0;

  /** `slots` is a power of two. */
  constructor(slots: number) {
    this.#words = new Uint32Array(slots * wordsPerSlot);
  }

  /** The number of keys that a table of this many slots takes before it must grow. */
  static room(slots: number): number {
    return Math.floor(slots * maxLoad);
  }

  get count(): number {
    return this.#count;
  }

  get slots(): number {
    return this.#words.length / wordsPerSlot;
  }

  get bytes(): number {
    return this.#words.byteLength;
  }

  get isFull(): boolean {
    return this.#count >= KeyTable.room(this.slots);
  }

  /** Adds a key that is not here. */
  add(high: number, low: number): void {
    insert(this.#words, high, low);
    this.#count++;
  }

  /** Doubles the room. */
  grow(): void {
    const larger = new Uint32Array(this.#words.length * 2);
    for (let at = 0; at < this.#words.length; at += wordsPerSlot) {
      const high = this.#words[at] ?? 0;
      const low = this.#words[at + 1] ?? 0;
      if ((high | low) !== 0) insert(larger, high, low);
    }
    this.#words = larger;
  }

  /**
   * Sets `found[row]` for the rows whose key, two words a row in `keys`, is here. It first reads one word at the place
   * of each key: these reads wait for memory together, while each look-up would wait by itself. The caller passes few
   * rows at a time, so that the words are still in the cache.
   */
  mark(keys: Uint32Array, rows: Int32Array, found: Uint8Array): void {
    const words = this.#words;
    const mask = words.length / wordsPerSlot - 1;
    let read = 0;
    for (const row of rows) {
      read ^= words[((keys[row * wordsPerSlot + 1] ?? 0) & mask) * wordsPerSlot] ?? 0;
    }
    touched = read;
    for (const row of rows) {
      const high = keys[row * wordsPerSlot];
      const low = keys[row * wordsPerSlot + 1] ?? 0;
      let slot = low & mask;
      for (;;) {
        const slotHigh = words[slot * wordsPerSlot];
        const slotLow = words[slot * wordsPerSlot + 1];
        if (slotLow === low && slotHigh === high) {
          found[row] = 1;
          break;
        }
        if (slotLow === 0 && slotHigh === 0) break;
        slot = (slot + 1) & mask;
      }
    }
  }

  /** Fingerprints for `markFingerprints`, which finds every key that is here and about one in two million others. */
  fingerprints(): Fingerprints {
    const first = new Uint16Array(this.slots);
    const rest = new Uint8Array(this.slots);
    for (let slot = 0; slot < first.length; slot++) {
      const high = this.#words[slot * wordsPerSlot] ?? 0;
      if ((high | (this.#words[slot * wordsPerSlot + 1] ?? 0)) === 0) continue;
      first[slot] = firstOf(high);
      rest[slot] = high;
    }
    return { first, rest };
  }
}

/** Does the same as `KeyTable.mark`, but may also set `found[row]` for a row whose key was not there. */
export function markFingerprints(
  { first, rest }: Fingerprints,
  keys: Uint32Array,
  rows: Int32Array,
  found: Uint8Array,
): void {
  const mask = first.length - 1;
  let read = 0;
  for (const row of rows) read ^= first[(keys[row * wordsPerSlot + 1] ?? 0) & mask] ?? 0;
  touched = read;
  for (const row of rows) {
    const high = keys[row * wordsPerSlot] ?? 0;
    const wanted = firstOf(high);
    let slot = (keys[row * wordsPerSlot + 1] ?? 0) & mask;
    for (;;) {
      const there = first[slot] ?? 0;
      if (there === wanted && rest[slot] === (high & 0xff)) {
        found[row] = 1;
        break;
      }
      if (there === 0) break;
      slot = (slot + 1) & mask;
    }
  }
}

/** Takes the words that were read ahead: a compiler may leave out reads whose results go nowhere. */
export let touched = 0;

/** Never zero, which marks a free slot. */
function firstOf(high: number): number {
  const bits = high >>> 16;
  return bits === 0 ? 1 : bits;
}

function insert(words: Uint32Array, high: number, low: number): void {
  const mask = words.length / wordsPerSlot - 1;
  let slot = low & mask;
  while (((words[slot * wordsPerSlot] ?? 0) | (words[slot * wordsPerSlot + 1] ?? 0)) !== 0) {
    slot = (slot + 1) & mask;
  }
  words[slot * wordsPerSlot] = high;
  words[slot * wordsPerSlot + 1] = low;
}
