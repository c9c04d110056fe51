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

  private constructor(identities: Identities, users: Uint32Array) {
    this.#identities = identities;
    this.#users = users;
  }

  static async of(identities: Identities, numbers: ProfileNumbers): Promise<MergedProfiles> {
    const merged = await numbers.ofAll(readWords(identities.merged), keyWords);
    const deleted = await numbers.ofAll(readWords(identities.deleted), keyWords);
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
    return new MergedProfiles(identities, users);
  }

  /** Of the texts. */
  get bytes(): number {
    const { merged, deleted } = this.#identities;
    return merged.length + deleted.length;
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
