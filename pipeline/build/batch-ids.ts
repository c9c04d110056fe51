// The ids of one batch's events: finds, exactly, the events that the batch holds twice, and keeps each row's id, key,
// project and time for the seen-set. It knows one batch only; earlier batches are the seen-set's business.

import { Int32Buffer } from '../columns/column-buffers.ts';
import { UuidColumn } from '../columns/word-columns.ts';
import { type EventKeys, writeEventKey } from './event-key.ts';
import { Repeats } from './repeats.ts';
import type { BatchIds } from './thread-messages.ts';

const firstSlots = 4_096;
const free = -1;

/** The least and the greatest of the included values; Infinity and -Infinity while there are none. */
class Range {
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;

  include(value: number): void {
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
  }

  clear(): void {
    this.min = Number.POSITIVE_INFINITY;
    this.max = Number.NEGATIVE_INFINITY;
  }
}

export class IdTable {
  readonly #eventKeys: EventKeys;
  readonly #ids = new UuidColumn();
  readonly #projectOf = new Int32Buffer();
  readonly #projects: string[] = [];
  readonly #projectIndex = new Map<string, number>();
  #keys = new Uint32Array(firstSlots);
  #occurTimes = new Float64Array(firstSlots / 2);
  /** Row numbers by key, open addressing; at least twice as many slots as rows. */
  #slots = new Int32Array(firstSlots).fill(free);
  #project = 0;
  #projectKey: Uint32Array = new Uint32Array(2);
  readonly #receiveTime = new Range();
  readonly #repeats = new Repeats();

  constructor(eventKeys: EventKeys) {
    this.#eventKeys = eventKeys;
  }

  get rows(): number {
    return this.#ids.length;
  }

  clear(): void {
    this.#ids.clear();
    this.#projectOf.clear();
    this.#projects.length = 0;
    this.#projectIndex.clear();
    this.#slots.fill(free);
    this.#receiveTime.clear();
    this.#repeats.clear();
  }

  /** The events to come belong to this request. */
  beginRequest(projectId: string, receiveTimeMs: number): void {
    this.#receiveTime.include(receiveTimeMs);
    this.#projectKey = this.#eventKeys.projectKey(projectId);
    const known = this.#projectIndex.get(projectId);
    this.#project = known ?? this.#projects.length;
    if (known !== undefined) return;
    this.#projectIndex.set(projectId, this.#project);
    this.#projects.push(projectId);
  }

  /**
   * Adds the event whose id begins at word `at` as the next row; false, and nothing added, where the batch has it
   * already.
   */
  add(eventId: Uint32Array, occurTimeMs: number, at = 0): boolean {
    const row = this.#ids.length;
    this.#reserve(row + 1);
    writeEventKey(this.#projectKey, eventId, at, this.#keys, row * 2);
    const mask = this.#slots.length - 1;
    let slot = (this.#keys[row * 2 + 1] ?? 0) & mask;
    for (;;) {
      const other = this.#slots[slot] ?? free;
      if (other === free) break;
      if (this.#isEvent(other, eventId, at)) {
        this.#repeats.add(this.#project, eventId, at);
        return false;
      }
      slot = (slot + 1) & mask;
    }
    this.#slots[slot] = row;
    this.#ids.push(eventId, at);
    this.#projectOf.push(this.#project);
    this.#occurTimes[row] = occurTimeMs;
    return true;
  }

  /** A copy of everything, row by row. */
  snapshot(): Omit<BatchIds, 'firstSeq' | 'lastSeq' | 'sessionless'> {
    return {
      rows: this.rows,
      keys: this.#keys.slice(0, this.rows * 2),
      eventIds: this.#ids.bytes().slice(),
      projectOf: this.#projectOf.view().slice(),
      projects: [...this.#projects],
      occurTimesMs: this.#occurTimes.slice(0, this.rows),
      minReceiveTimeMs: this.#receiveTime.min,
      maxReceiveTimeMs: this.#receiveTime.max,
      repeats: this.#repeats.snapshot(),
    };
  }

  #isEvent(row: number, eventId: Uint32Array, at: number): boolean {
    const words = this.#ids.words;
    const own = row * 4;
    return (
      words[own] === eventId[at] &&
      words[own + 1] === eventId[at + 1] &&
      words[own + 2] === eventId[at + 2] &&
      words[own + 3] === eventId[at + 3] &&
      this.#projectOf.array[row] === this.#project
    );
  }

  #reserve(rows: number): void {
    if (rows * 2 > this.#keys.length) {
      const larger = new Uint32Array(this.#keys.length * 2);
      larger.set(this.#keys);
      this.#keys = larger;
      const times = new Float64Array(this.#occurTimes.length * 2);
      times.set(this.#occurTimes);
      this.#occurTimes = times;
    }
    if (rows * 2 <= this.#slots.length) return;
    const slots = new Int32Array(this.#slots.length * 2).fill(free);
    const mask = slots.length - 1;
    for (let row = 0; row < this.rows; row++) {
      let slot = (this.#keys[row * 2 + 1] ?? 0) & mask;
      while (slots[slot] !== free) slot = (slot + 1) & mask;
      slots[slot] = row;
    }
    this.#slots = slots;
  }
}
