// Numbers for tuples of whole numbers, the same for the same tuple: a hash table without an object per tuple. The
// tuples of a batch's rows are looked up once a row, for which Map takes ten times as long.

const firstSlots = 4_096;

export class CellTuples {
  readonly #width: number;
  /** Tuples by number, one after the other; `last` is written behind them before it is looked for. */
  #tuples: Int32Array;
  /** Numbers plus one, open addressing; twice as many slots as tuples at least. */
  #slots = new Int32Array(firstSlots);
  #count = 0;

  constructor(width: number) {
    this.#width = width;
    this.#tuples = new Int32Array((firstSlots / 2) * width);
  }

  clear(): void {
    this.#count = 0;
    this.#slots.fill(0);
  }

  /** Sets an element of the tuple that `number` looks for. */
  put(index: number, value: number): void {
    this.#tuples[this.#count * this.#width + index] = value;
  }

  /** The number of the tuple whose elements were put: the next free one, from 0, where it is new. */
  number(): number {
    const mask = this.#slots.length - 1;
    let slot = this.#hash(this.#count) & mask;
    for (;;) {
      const known = (this.#slots[slot] ?? 0) - 1;
      if (known < 0) break;
      if (this.#isSame(known)) return known;
      slot = (slot + 1) & mask;
    }
    this.#slots[slot] = ++this.#count;
    const added = this.#count - 1;
    if (this.#count * 2 >= this.#slots.length) this.#grow();
    return added;
  }

  #isSame(number: number): boolean {
    const known = number * this.#width;
    const last = this.#count * this.#width;
    for (let index = 0; index < this.#width; index++) {
      if (this.#tuples[known + index] !== this.#tuples[last + index]) return false;
    }
    return true;
  }

  #hash(number: number): number {
    const from = number * this.#width;
    let hash = 0;
    for (let index = 0; index < this.#width; index++) {
      hash = Math.imul(hash ^ (this.#tuples[from + index] ?? 0), 0x9e37_79b1);
      hash ^= hash >>> 15;
    }
    return hash;
  }

  #grow(): void {
    const tuples = new Int32Array(this.#tuples.length * 2);
    tuples.set(this.#tuples);
    this.#tuples = tuples;
    this.#slots = new Int32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let number = 0; number < this.#count; number++) {
      let slot = this.#hash(number) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = number + 1;
    }
  }
}
