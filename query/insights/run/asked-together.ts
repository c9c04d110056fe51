// What the questions of a board's tiles found out, which are of one project and asked at once: each thing is looked up
// once, also while events come in.

import { shareEngineTime } from '../../calls/engine-time.ts';
import type { Facts } from '../read/property-types.ts';
import type { Stored } from './insight-runs.ts';

export class AskedTogether {
  /** Kept days remember this symbol in place of the object, which holds all that was found for its questions. */
  readonly token = Symbol('asked together');
  /** The moment until which all answers are complete. */
  readonly moments = new Found<number | undefined>();
  readonly facts = new Found<Facts>();
  /** Of each range. */
  readonly stored = new Map<string, Stored>();
}

/** What was found for each key when it was first asked for. What failed is looked for again. */
class Found<T> {
  readonly #found = new Map<string, { result: Promise<T>; signal: AbortSignal }>();

  /** `signal` ends whoever asks, and `look` where they ask first. */
  get(key: string, signal: AbortSignal, look: () => Promise<T>): Promise<T> {
    const known = this.#found.get(key);
    if (known !== undefined) {
      shareEngineTime(signal, known.signal);
      return known.result;
    }
    const result = look();
    this.#found.set(key, { result, signal });
    result.catch(() => this.#found.delete(key));
    return result;
  }
}
