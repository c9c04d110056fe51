// Puts events into the order of time as far as a bounded memory reaches, month by month: an insert of many months has a
// part for each year, and the look-up of stored ids reads every day between its first and its last event.

import { type HeldEvent, TextBlocks } from './held-event.ts';
import { Months } from './months.ts';
import type { ReadyEvent } from './ready-event.ts';

export interface WindowBounds {
  maxEvents: number;
  maxBytes: number;
}

/** Texts; their blocks take at most twice as much. Beside them a hundred thousand events take some 30 MB. */
export const defaultWindow: WindowBounds = { maxEvents: 100_000, maxBytes: 96 * 1_048_576 };

class Month {
  readonly events: HeldEvent[] = [];
  readonly #texts = new TextBlocks();
  bytes = 0;

  /** Returns the bytes of its text. */
  add(event: ReadyEvent): number {
    const held = this.#texts.hold(event);
    this.events.push(held);
    const bytes = held.to - held.from;
    this.bytes += bytes;
    return bytes;
  }
}

export class MonthWindow {
  readonly #bounds: WindowBounds;
  readonly #names = new Months();
  readonly #months = new Map<string, Month>();
  #events = 0;
  #bytes = 0;

  constructor(bounds: WindowBounds = defaultWindow) {
    this.#bounds = bounds;
  }

  get isFull(): boolean {
    return this.#events >= this.#bounds.maxEvents || this.#bytes >= this.#bounds.maxBytes;
  }

  add(event: ReadyEvent): void {
    const key = this.#names.of(event.timeMs);
    let month = this.#months.get(key);
    if (month === undefined) {
      month = new Month();
      this.#months.set(key, month);
    }
    this.#bytes += month.add(event);
    this.#events++;
  }

  /** Removes the month with the most events, and returns them in the order of time; empty where nothing is left. */
  takeLargest(): HeldEvent[] {
    let largest: [string, Month] | undefined;
    for (const entry of this.#months) {
      if (entry[1].events.length > (largest?.[1].events.length ?? 0)) largest = entry;
    }
    if (largest === undefined) return [];
    return this.#take(...largest);
  }

  /** The same for the earliest month. */
  takeEarliest(): HeldEvent[] {
    const [first] = [...this.#months].sort(([one], [other]) => (one < other ? -1 : 1));
    return first === undefined ? [] : this.#take(...first);
  }

  #take(key: string, { events, bytes }: Month): HeldEvent[] {
    this.#months.delete(key);
    this.#events -= events.length;
    this.#bytes -= bytes;
    return events.sort((one, other) => one.timeMs - other.timeMs);
  }
}
