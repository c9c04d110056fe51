// Repeatable random numbers, and numbers that belong to a number: the same seed makes the same shop everywhere.

/** 32 random bits that belong to `value` under `salt`. */
export function hash32(value: number, salt: number): number {
  let bits = Math.imul(value ^ 0x9e37_79b9, 0x85eb_ca6b) ^ Math.imul(salt + 1, 0xc2b2_ae35);
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb_352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846c_a68b);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** A number from 0 to below 1 that belongs to `value` under `salt`. */
export function share(value: number, salt: number): number {
  return hash32(value, salt) / 2 ** 32;
}

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = hash32(seed, 0);
  }

  /** 32 bits. */
  word(): number {
    this.#state = (this.#state + 0x6d2b_79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (bits ^ (bits >>> 14)) >>> 0;
  }

  /** From 0 to below 1. */
  unit(): number {
    return this.word() / 2 ** 32;
  }

  /** From 0 to below `end`, whole. */
  below(end: number): number {
    return Math.floor(this.unit() * end);
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }
}

/** Picks values by their weights. */
export class Weighted<Value> {
  readonly #values: readonly Value[];
  readonly #ends: readonly number[];

  constructor(weighted: readonly (readonly [Value, number])[]) {
    const total = weighted.reduce((sum, [, weight]) => sum + weight, 0);
    let end = 0;
    this.#values = weighted.map(([value]) => value);
    this.#ends = weighted.map(([, weight]) => {
      end += weight / total;
      return end;
    });
  }

  /** The value at `unit`, a number from 0 to below 1. */
  at(unit: number): Value {
    const index = this.#ends.findIndex((end) => unit < end);
    const value = this.#values[index < 0 ? this.#values.length - 1 : index];
    if (value === undefined) throw new RangeError('nothing to pick from');
    return value;
  }
}
