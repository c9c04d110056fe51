// A set of minutes, one bit each, in pages of a day: recent events need a few pages, events of decades a few thousand.

import { minuteMs } from '../../platform/clock.ts';

const minutesPerPage = 1_440;
const wordsPerPage = minutesPerPage / 32;

export class MinuteSet {
  readonly #pages = new Map<number, Uint32Array>();
  // Most look-ups are in the same page as the one before.
  #lastNumber = Number.NaN;
  #lastPage: Uint32Array | undefined;

  /** Adds the minute of a time in milliseconds. */
  add(timeMs: number): void {
    const minute = Math.floor(timeMs / minuteMs);
    const number = Math.floor(minute / minutesPerPage);
    const bit = minute - number * minutesPerPage;
    const page = this.#page(number) ?? this.#openPage(number);
    page[bit >>> 5] = (page[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }

  has(timeMs: number): boolean {
    const minute = Math.floor(timeMs / minuteMs);
    const number = Math.floor(minute / minutesPerPage);
    const bit = minute - number * minutesPerPage;
    return (((this.#page(number)?.[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 1;
  }

  addAll(other: MinuteSet): void {
    for (const [number, words] of other.#pages) {
      const page = this.#page(number) ?? this.#openPage(number);
      for (let at = 0; at < wordsPerPage; at++) page[at] = (page[at] ?? 0) | (words[at] ?? 0);
    }
  }

  #page(number: number): Uint32Array | undefined {
    if (number !== this.#lastNumber) {
      this.#lastNumber = number;
      this.#lastPage = this.#pages.get(number);
    }
    return this.#lastPage;
  }

  #openPage(number: number): Uint32Array {
    const page = new Uint32Array(wordsPerPage);
    this.#pages.set(number, page);
    this.#lastPage = page;
    return page;
  }
}
