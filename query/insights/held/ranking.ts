// The users with the most events among all that are offered, in one pass.

/** Compares users by something; negative where the first one comes first. */
type Compare = (one: number, other: number) => number;

/** So many times the limit are held before they are sorted. */
const slack = 4;

export class Ranking {
  readonly #limit: number;
  readonly #eventsOf: (user: number) => number;
  readonly #compareNames: Compare;
  #held: number[] = [];
  /** Whoever does not come before this one is not among the first. */
  #last: number | undefined;

  constructor(limit: number, eventsOf: (user: number) => number, compareNames: Compare) {
    this.#limit = limit;
    this.#eventsOf = eventsOf;
    this.#compareNames = compareNames;
  }

  /** A user may be offered more than once; one without events is not taken. */
  offer(user: number): void {
    if (this.#eventsOf(user) === 0) return;
    if (this.#last !== undefined && this.#compare(user, this.#last) >= 0) return;
    this.#held.push(user);
    if (this.#held.length === slack * this.#limit) this.#sort();
  }

  /** The most events first, then by name. */
  first(): readonly number[] {
    this.#sort();
    return this.#held;
  }

  #sort(): void {
    const sorted = [...new Set(this.#held)].sort((one, other) => this.#compare(one, other));
    this.#held = sorted.slice(0, this.#limit);
    this.#last = this.#held[this.#limit - 1];
  }

  #compare(one: number, other: number): number {
    return this.#eventsOf(other) - this.#eventsOf(one) || this.#compareNames(one, other);
  }
}
