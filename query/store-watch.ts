// Tells a store that is away from a read that takes long: a read that has waited for a while asks whether the store
// answers at all. Where it does not, all reads that still wait end, and new ones fail at once until it answers again.

import type { RowReader, Select } from '../platform/clickhouse/select-rows.ts';
import type { Timer } from './timer.ts';

/** The store answers nobody; the read may not have begun. */
export class StoreAway extends Error {}

interface StoreWatchOptions {
  /** Whether the store answers the shortest question, in bounded time; never rejects. */
  answers: () => Promise<boolean>;
  timer: Timer;
  /** A read without a row asks so often. */
  silenceMs: number;
  /** Told each time that a read without a row has asked. */
  onSilence?: () => void;
}

/** With two questions of 2 s, reads learn of it before those that wait for a turn are refused (turns.ts). */
export const defaultSilenceMs = 500;
/** An answer that is older is asked for again before a read fails for it. */
const freshMs = 5_000;

export class StoreWatch {
  readonly #options: StoreWatchOptions;
  /** Reads without a row. */
  readonly #silent = new Set<AbortController>();
  #asking: Promise<boolean> | undefined;
  #isAway = false;
  #answeredMs = 0;
  /** Grows with each row of any read. */
  #rows = 0;

  constructor(options: StoreWatchOptions) {
    this.#options = options;
  }

  /** A reader whose reads throw StoreAway where the store is away. */
  reader(store: RowReader): RowReader {
    return { select: (select, onRow) => this.#select(store, select, onRow) };
  }

  async #select(store: RowReader, select: Select, onRow: (text: string) => boolean): Promise<void> {
    if (this.#isAway) {
      const isFresh = performance.now() - this.#answeredMs < freshMs;
      const answers = this.#ask();
      if (isFresh || !(await answers)) throw new StoreAway();
    }
    const away = new AbortController();
    const signal = AbortSignal.any([select.signal, away.signal]);
    this.#silent.add(away);
    const calledOff = this.#askWhileSilent(away);
    try {
      await store.select({ ...select, signal }, (text) => {
        this.#silent.delete(away);
        this.#rows++;
        return onRow(text);
      });
    } catch (error) {
      throw away.signal.aborted ? new StoreAway() : error;
    } finally {
      calledOff();
      this.#silent.delete(away);
    }
  }

  /** Returns how to stop asking. */
  #askWhileSilent(away: AbortController): () => void {
    const { timer, silenceMs, onSilence } = this.#options;
    const wait = (): (() => void) =>
      timer(silenceMs, () => {
        onSilence?.();
        void this.#ask().then(() => {
          if (this.#silent.has(away)) calledOff = wait();
        });
      });
    let calledOff = wait();
    return () => calledOff();
  }

  /** One question at a time, whoever asks. */
  #ask(): Promise<boolean> {
    this.#asking ??= this.#answers().then((answers) => {
      this.#asking = undefined;
      this.#isAway = !answers;
      this.#answeredMs = performance.now();
      if (!answers) for (const away of this.#silent) away.abort();
      return answers;
    });
    return this.#asking;
  }

  /** A busy store may leave one question unanswered, and one that sends rows to anybody is not away. */
  async #answers(): Promise<boolean> {
    const { answers } = this.#options;
    const before = this.#rows;
    const hasSentRows = (): boolean => this.#rows > before;
    return (await answers()) || hasSentRows() || (await answers()) || hasSentRows();
  }
}
