// What an import read, and what became of it: kinds by month, people, and what was left out by which rule and where.

import type { Violation } from '../ingest/validation/violation.ts';
import * as limits from '../platform/limits.ts';
import { ruleText } from '../proto/wire/rules.ts';
import { Months } from './events/months.ts';
import type { ReadyEvent } from './events/ready-event.ts';

export interface LeftOut {
  why: string;
  /** Stored all the same, under a kind of its own. */
  isKept: boolean;
  count: number;
  /** The first of them, as `file: line`. */
  first: string[];
}

const maxFirst = 10;
/** A name made of a person's id would be a kind of its own each time. */
const maxCells = 20_000;
const maxPeople = 500_000;
const others = 'other kinds';

export class Tally {
  rows = 0;
  events = 0;
  sent = 0;
  stored = 0;
  /** What rows say of persons, and the requests that were made of it. */
  said = 0;
  calls = 0;
  /** Files whose last row is damaged. */
  readonly brokenOff: string[] = [];
  /** By month, such as `2026-03`, the events of each kind. */
  readonly months = new Map<string, Map<string, number>>();
  readonly leftOut = new Map<string, LeftOut>();
  readonly #names = new Months();
  readonly #people = new Set<string>();
  #cells = 0;

  addEvent({ kind, timeMs, distinctId }: ReadyEvent): void {
    this.events++;
    if (this.#people.size < maxPeople) this.#people.add(distinctId);
    const name = this.#names.of(timeMs);
    const month = this.months.get(name) ?? new Map<string, number>();
    const known = month.get(kind);
    if (known !== undefined) {
      month.set(kind, known + 1);
      return;
    }
    this.months.set(name, month);
    const key = this.#cells >= maxCells ? others : kind;
    if (key === kind) this.#cells++;
    month.set(key, (month.get(key) ?? 0) + 1);
  }

  /** Exact up to half a million. */
  get people(): { count: number; isAtLeast: boolean } {
    return { count: this.#people.size, isAtLeast: this.#people.size === maxPeople };
  }

  /** Neither an event nor a word of a person was taken. */
  get isEmpty(): boolean {
    return this.events === 0 && this.said === 0;
  }

  leave(why: string, place: string): void {
    this.#note(why, why, false, place);
  }

  refuse({ rule, field, detail }: Violation, isKept: boolean, place: string): void {
    const end = detail === undefined ? '' : `, ${detail}`;
    const why = `${field} ${ruleText(rule, limits)}${end}`;
    this.#note(`${rule} ${isKept} ${fieldName(field)}`, why, isKept, place);
  }

  #note(key: string, why: string, isKept: boolean, place: string): void {
    const known = this.leftOut.get(key) ?? { why, isKept, count: 0, first: [] };
    known.count++;
    if (known.first.length < maxFirst) known.first.push(place);
    this.leftOut.set(key, known);
  }

  /** Rows and parts of rows that are stored nowhere. */
  get refused(): number {
    let count = 0;
    for (const { isKept, count: some } of this.leftOut.values()) if (!isKept) count += some;
    return count;
  }
}

/** Without a property's name, which senders choose. */
function fieldName(field: string): string {
  return field.split(/[.[]/, 1)[0] ?? '';
}
