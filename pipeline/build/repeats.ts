// The events that a batch holds once more: how many of each project, and the ids of the first, for live views.

import { UuidColumn } from '../columns/word-columns.ts';
import type { RepeatedEvents } from './thread-messages.ts';

/** 8 KiB; a batch of repetitions alone costs no more. */
const maxNamed = 500;

export class Repeats {
  readonly #countOf = new Map<number, number>();
  readonly #ids = new UuidColumn();
  readonly #projectOf: number[] = [];

  clear(): void {
    this.#countOf.clear();
    this.#ids.clear();
    this.#projectOf.length = 0;
  }

  /** The event of the project of this index whose id begins at word `at`. */
  add(project: number, eventId: Uint32Array, at: number): void {
    this.#countOf.set(project, (this.#countOf.get(project) ?? 0) + 1);
    if (this.#projectOf.length >= maxNamed) return;
    this.#ids.push(eventId, at);
    this.#projectOf.push(project);
  }

  /** A copy. */
  snapshot(): RepeatedEvents {
    return {
      countOf: new Map(this.#countOf),
      eventIds: this.#ids.bytes().slice(),
      projectOf: [...this.#projectOf],
    };
  }
}
