// Puts events into the order of time as far as a bounded memory reaches, month by month: an insert of many months has a
// part for each year, and the look-up of stored ids reads every day between its first and its last event.

import { Months } from './months.ts';
import type { ReadyEvent } from './ready-event.ts';

export interface WindowBounds {
  maxEvents: number;
  maxCharacters: number;
}

/** Some 150 MB of texts and what stands beside them, as long as each text is one piece (EventDraft.write). */
export const defaultWindow: WindowBounds = { maxEvents: 100_000, maxCharacters: 96 * 1_048_576 };

interface Month {
  events: ReadyEvent[];
  characters: number;
}

export class MonthWindow {
  readonly #bounds: WindowBounds;
  readonly #names = new Months();
  readonly #months = new Map<string, Month>();
  #events = 0;
  #characters = 0;

  constructor(bounds: WindowBounds = defaultWindow) {
    this.#bounds = bounds;
  }

  get isFull(): boolean {
    return this.#events >= this.#bounds.maxEvents || this.#characters >= this.#bounds.maxCharacters;
  }

  add(event: ReadyEvent): void {
    const key = this.#names.of(event.timeMs);
    const month = this.#months.get(key) ?? { events: [], characters: 0 };
    month.events.push(event);
    month.characters += event.text.length;
    this.#months.set(key, month);
    this.#events++;
    this.#characters += event.text.length;
  }

  /** Removes the month with the most events, and returns them in the order of time; empty where nothing is left. */
  takeLargest(): ReadyEvent[] {
    let largest: [string, Month] | undefined;
    for (const entry of this.#months) {
      if (entry[1].events.length > (largest?.[1].events.length ?? 0)) largest = entry;
    }
    if (largest === undefined) return [];
    return this.#take(...largest);
  }

  /** The same for the earliest month. */
  takeEarliest(): ReadyEvent[] {
    const [first] = [...this.#months].sort(([one], [other]) => (one < other ? -1 : 1));
    return first === undefined ? [] : this.#take(...first);
  }

  #take(key: string, { events, characters }: Month): ReadyEvent[] {
    this.#months.delete(key);
    this.#events -= events.length;
    this.#characters -= characters;
    return events.sort((one, other) => one.timeMs - other.timeMs);
  }
}
