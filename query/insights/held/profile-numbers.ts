// Numbers the profiles of a project from 0 on, in the order in which they are first seen. Sums of profiles are arrays
// then: a hash table takes ten times as long.

import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { keyWords } from './packed-words.ts';

const leastSlots = 1_024;
const pausedAfter = 20_000;
/** The table has at least twice as many slots as profiles. */
const slotsOfProfile = 2;

export class ProfileNumbers {
  /** The key of each number, in two words. */
  #keys = new Uint32Array((leastSlots / slotsOfProfile) * keyWords);
  /** Open addressing: a profile's number and one, and 0 for an empty slot. */
  #slots = new Uint32Array(leastSlots);
  #size = 0;
  // Secret and odd: nobody can choose ids that share a slot.
  readonly #factors = [randomInt(2 ** 31) * 2 + 1, randomInt(2 ** 31) * 2 + 1] as const;

  get size(): number {
    return this.#size;
  }

  /** The number of a key; a new one for one that has none. */
  of(low: number, high: number): number {
    const slot = this.#slotOf(low, high);
    const found = this.#slots[slot] ?? 0;
    if (found > 0) return found - 1;
    const number = this.#size++;
    this.#keys[number * keyWords] = low;
    this.#keys[number * keyWords + 1] = high;
    this.#slots[slot] = number + 1;
    if (this.#size * slotsOfProfile === this.#slots.length) this.#grow();
    return number;
  }

  /** The numbers of the keys that begin the rows of packed-words.ts, of so many words each. */
  async ofAll(words: Uint32Array, rowWords: number): Promise<Uint32Array> {
    const numbers = new Uint32Array(words.length / rowWords);
    for (let place = 0, at = 0; place < numbers.length; place++, at += rowWords) {
      numbers[place] = this.of(words[at] ?? 0, words[at + 1] ?? 0);
      // So many take milliseconds.
      if (place % pausedAfter === pausedAfter - 1) await setImmediate();
    }
    return numbers;
  }

  /** The bytes of a number's key in hex, in the order in which the profile's id has them. */
  textOf(number: number): string {
    const words = this.#keys.subarray(number * keyWords, (number + 1) * keyWords);
    return Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString('hex');
  }

  /** Negative where the text of the first one's key comes first. */
  compare(one: number, other: number): number {
    for (let word = 0; word < keyWords; word++) {
      const [first, second] = [this.#order(one, word), this.#order(other, word)];
      if (first !== second) return first - second;
    }
    return 0;
  }

  /** The bytes of a word as a number, the first one the highest. */
  #order(number: number, word: number): number {
    const bytes = this.#keys[number * keyWords + word] ?? 0;
    const swapped =
      (bytes << 24) | ((bytes & 0xff00) << 8) | ((bytes >>> 8) & 0xff00) | (bytes >>> 24);
    return swapped >>> 0;
  }

  /** Its own, or the empty one where it belongs. */
  #slotOf(low: number, high: number): number {
    const slots = this.#slots;
    const keys = this.#keys;
    const mixed = Math.imul(low, this.#factors[0]) + Math.imul(high, this.#factors[1]);
    for (let slot = (mixed ^ (mixed >>> 15)) & (slots.length - 1); ; ) {
      const found = slots[slot] ?? 0;
      const at = (found - 1) * keyWords;
      if (found === 0 || (keys[at] === low && keys[at + 1] === high)) return slot;
      slot = (slot + 1) & (slots.length - 1);
    }
  }

  #grow(): void {
    const keys = new Uint32Array(this.#keys.length * 2);
    keys.set(this.#keys);
    this.#keys = keys;
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let number = 0; number < this.#size; number++) {
      const at = number * keyWords;
      this.#slots[this.#slotOf(keys[at] ?? 0, keys[at + 1] ?? 0)] = number + 1;
    }
  }
}
