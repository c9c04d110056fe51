// Which user has the events of each profile, by their numbers.

import type { Identities } from './identities.ts';
import { keyWords, pairWords, readWords } from './packed-words.ts';
import type { ProfileNumbers } from './profile-numbers.ts';

/** No profile has this number. */
const nobody = 2 ** 32 - 1;

export class MergedProfiles {
  readonly #identities: Identities;
  /** Profiles that are seen later are users of their own. */
  readonly #users: Uint32Array;

  constructor(identities: Identities, numbers: ProfileNumbers) {
    this.#identities = identities;
    const merged = numbersOf(identities.merged, numbers);
    const deleted = numbersOf(identities.deleted, numbers);
    const users = new Uint32Array(numbers.size);
    for (let number = 0; number < users.length; number++) users[number] = number;
    for (let place = 0; place < merged.length; place += pairWords / keyWords) {
      users[merged[place] ?? 0] = merged[place + 1] ?? 0;
    }
    if (deleted.length > 0) {
      const areDeleted = new Set(deleted);
      for (let number = 0; number < users.length; number++) {
        if (areDeleted.has(users[number] ?? 0)) users[number] = nobody;
      }
    }
    this.#users = users;
  }

  get bytes(): number {
    const { merged, deleted } = this.#identities;
    return this.#users.byteLength + merged.length + deleted.length;
  }

  isOf({ merged, deleted }: Identities): boolean {
    return merged === this.#identities.merged && deleted === this.#identities.deleted;
  }

  /** Undefined for a profile whose events nobody has. */
  userOf(profile: number): number | undefined {
    const user = this.#users[profile] ?? profile;
    return user === nobody ? undefined : user;
  }
}

function numbersOf(text: string, numbers: ProfileNumbers): Uint32Array {
  const words = readWords(text);
  const found = new Uint32Array(words.length / keyWords);
  for (let place = 0, at = 0; place < found.length; place++, at += keyWords) {
    found[place] = numbers.of(words[at] ?? 0, words[at + 1] ?? 0);
  }
  return found;
}
