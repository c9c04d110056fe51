// The traits of one profile, each value as JSON text. A trait that came with a merge remembers its giver: taking the
// merge back takes the trait back too.

import type { Trait } from '../../proto/wire/profile-change.ts';

/** Traits that one profile gathers over all calls; further keys are left out. The length counts keys and values. */
const maxStoredTraits = 1_024;
export const maxStoredTraitsLength = 262_144;

const none: ReadonlyMap<string, string> = new Map();

export class ProfileTraits {
  readonly #values = new Map<string, string>();
  /** The giver of each inherited trait, by key; absent until the first one. */
  #givers: Map<string, string> | undefined;
  #length = 0;

  constructor(own: Iterable<Trait> = []) {
    for (const trait of own) this.set(trait);
  }

  get values(): ReadonlyMap<string, string> {
    return this.#values;
  }

  /** The giver of each inherited trait, by key; the profile's own traits are not in it. */
  get givers(): ReadonlyMap<string, string> {
    return this.#givers ?? none;
  }

  /** Characters of all keys and values. */
  get length(): number {
    return this.#length;
  }

  /** Characters of the keys and values that were not inherited. */
  get ownLength(): number {
    let length = this.#length;
    for (const key of this.givers.keys())
      length -= key.length + (this.#values.get(key) ?? '').length;
    return length;
  }

  /** Sets a trait as the profile's own; changes nothing where the profile is full. */
  set([key, json]: Trait): void {
    if (this.#put(key, json)) this.#givers?.delete(key);
  }

  /** Takes over the trait of another id; false where the profile has this key already, or is full. */
  inherit([key, json]: Trait, giver: string): boolean {
    if (this.#values.has(key) || !this.#put(key, json)) return false;
    this.#givers ??= new Map();
    this.#givers.set(key, giver);
    return true;
  }

  /** Drops the traits whose giver is gone; returns their keys. */
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
