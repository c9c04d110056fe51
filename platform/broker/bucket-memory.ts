// The records of one bucket in memory, with their revisions: an older value of a key never replaces a newer one. Where
// entries come from, and how current they are, is watched-bucket.ts.

/** One key's newest known entry. */
export interface HeldRecord<T> {
  /** Undefined once the key is deleted: the revision stays, so that an older value cannot come back. */
  record: T | undefined;
  revision: number;
}

export class BucketMemory<T> {
  readonly #listeners: ((key: string) => void)[] = [];
  #held = new Map<string, HeldRecord<T>>();

  get(key: string): { record: T; revision: number } | undefined {
    const held = this.#held.get(key);
    if (held?.record === undefined) return undefined;
    return { record: held.record, revision: held.revision };
  }

  *records(): Generator<[key: string, record: T]> {
    for (const [key, { record }] of this.#held) {
      if (record !== undefined) yield [key, record];
    }
  }

  /** Calls `listener` with each key whose entry has changed. It must not throw. */
  onChange(listener: (key: string) => void): void {
    this.#listeners.push(listener);
  }

  keep(key: string, next: HeldRecord<T>): void {
    const held = this.#held.get(key);
    if (held !== undefined && held.revision >= next.revision) return;
    this.#held.set(key, next);
    this.#tell(key);
  }

  /**
   * Exchanges all entries for `staged`, which then belongs to this memory. Entries with a revision above
   * `keepNewerThan` stay: they are own writes that the read of the whole bucket did not see.
   */
  exchange(staged: Map<string, HeldRecord<T>>, keepNewerThan: number): void {
    const before = this.#held;
    for (const [key, held] of before) {
      if (held.revision > keepNewerThan && held.revision > (staged.get(key)?.revision ?? 0)) {
        staged.set(key, held);
      }
    }
    this.#held = staged;
    for (const key of new Set([...before.keys(), ...staged.keys()])) {
      if (before.get(key)?.revision !== staged.get(key)?.revision) this.#tell(key);
    }
  }

  #tell(key: string): void {
    for (const listener of this.#listeners) listener(key);
  }
}
