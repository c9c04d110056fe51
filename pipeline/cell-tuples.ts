// Numbers for tuples of whole numbers, the same for the same tuple: a hash table without an object per tuple. Each row
// of a batch is looked up in it, for which a Map of what it takes to tell tuples apart takes ten times as long.

const firstSlots = 4_096;

export class CellTuples {
  readonly #width: number;
  /** Tuples by number, one after the other. */
  #tuples: Int32Array;
  /** Numbers plus one, open addressing; twice as many slots as tuples at least. */
  #slots = new Int32Array(firstSlots);
  #count = 0;

  constructor(width: number) {
    this.#width = width;
    this.#tuples = new Int32Array((firstSlots / 2) * width);
  }

  get count(): number {
    return this.#count;
  }

  clear(): void {
    this.#count = 0;
    this.#slots.fill(0);
  }

  /** The number of a tuple: the next free one, from 0, where it is new. */
  numberOf(tuple: Int32Array): number {
    const mask = this.#slots.length - 1;
    let slot = hashOf(tuple, 0, this.#width) & mask;
    for (;;) {
      const known = (this.#slots[slot] ?? 0) - 1;
      if (known < 0) break;
      if (isAt(this.#tuples, known * this.#width, tuple)) return known;
      slot = (slot + 1) & mask;
    }
    const added = this.#count++;
    this.#slots[slot] = added + 1;
    this.#tuples.set(tuple, added * this.#width);
    if (this.#count * 2 === this.#slots.length) this.#grow();
    return added;
  }

  #grow(): void {
    const tuples = new Int32Array(this.#tuples.length * 2);
    tuples.set(this.#tuples);
    this.#tuples = tuples;
    this.#slots = new Int32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let number = 0; number < this.#count; number++) {
      let slot = hashOf(tuples, number * this.#width, this.#width) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = number + 1;
    }
  }
}

function hashOf(tuples: Int32Array, from: number, width: number): number {
  let hash = 0;
  for (let index = from; index < from + width; index++) {
    hash = Math.imul(hash ^ (tuples[index] ?? 0), 0x9e37_79b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

function isAt(tuples: Int32Array, from: number, tuple: Int32Array): boolean {
  for (let index = 0; index < tuple.length; index++) {
    if (tuples[from + index] !== tuple[index]) return false;
  }
  return true;
}
