// The traits of one profile, each value as JSON text, and of those that merges brought, who had them: taking a merge
// back takes them back too.

import type { Trait } from '../../proto/wire/profile-change.ts';

/** What one profile may gather from any number of calls; further keys are left out. */
export const maxStoredTraits = 1_024;
export const maxStoredTraitsLength = 262_144;

const none: ReadonlyMap<string, string> = new Map();

export class ProfileTraits {
  readonly #values = new Map<string, string>();
  /** Absent until a merge brings something. */
  #givers: Map<string, string> | undefined;
  #length = 0;

  constructor(own: Iterable<Trait> = []) {
    for (const trait of own) this.set(trait);
  }

  get values(): ReadonlyMap<string, string> {
    return this.#values;
  }

  /** The ids that had these traits, by key; a profile's own are left out. */
  get givers(): ReadonlyMap<string, string> {
    return this.#givers ?? none;
  }

  /** Characters of all keys and values. */
  get length(): number {
    return this.#length;
  }

  /** Sets a trait of the profile's own; changes nothing where the profile is full. */
  set([key, json]: Trait): void {
    if (this.#put(key, json)) this.#givers?.delete(key);
  }

  /** Takes over the trait of another id; false where the profile has one of this key, or is full. */
  inherit([key, json]: Trait, giver: string): boolean {
    if (this.#values.has(key) || !this.#put(key, json)) return false;
    this.#givers ??= new Map();
    this.#givers.set(key, giver);
    return true;
  }

  /** Lets go of what these ids gave; returns the keys. */
  giveBack(isGone: (giver: string) => boolean): string[] {
    const keys = [...this.givers].flatMap(([key, giver]) => (isGone(giver) ? [key] : []));
    for (const key of keys) {
      this.#length -= key.length + (this.#values.get(key) ?? '').length;
      this.#values.delete(key);
      this.#givers?.delete(key);
    }
    return keys;
  }

  #put(key: string, json: string): boolean {
    const before = this.#values.get(key);
    const added = json.length + (before === undefined ? key.length : -before.length);
    if (before === undefined && this.#values.size >= maxStoredTraits) return false;
    if (this.#length + added > maxStoredTraitsLength) return false;
    this.#values.set(key, json);
    this.#length += added;
    return true;
  }
}
