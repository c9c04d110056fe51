// What a project excludes of the events of its public keys: how each list is written. Judging a request is ingest's.

import { isTextList } from '../json.ts';
import { networkOf } from '../private-networks.ts';

/** Lists of a project's record, each item in its one form. */
export interface Exclusions {
  /** Blocks such as 203.0.113.0/24 and 2001:db8::/32. */
  networks: readonly string[];
  /** Paths of pages, in which a star is any text. */
  paths: readonly string[];
  /** ISO 3166-1 alpha-2. */
  countries: readonly string[];
  /** Texts that an agent holds, whatever their case. */
  userAgents: readonly string[];
}

/** Of each list. */
export const maxExclusions = 50;
export const maxExclusionCharacters = 255;

interface ExclusionList {
  /** The form that is kept; undefined where the text is none. */
  read(text: string): string | undefined;
  /** The rest of the sentence after the field's name. */
  rule: string;
}

const controlCharacter = /\p{Cc}/u;

export const exclusionLists: Readonly<Record<keyof Exclusions, ExclusionList>> = {
  networks: {
    read: networkOf,
    rule: 'must be an address or a network such as 203.0.113.0/24 or 2001:db8::/32',
  },
  paths: {
    read: (text) => (/^[/*]/.test(text) && !controlCharacter.test(text) ? text : undefined),
    rule: 'must be a path such as /admin or /admin/*',
  },
  countries: {
    read: (text) => (/^[a-z]{2}$/i.test(text) ? text.toUpperCase() : undefined),
    rule: 'must be a country of two letters such as DE',
  },
  userAgents: {
    read: (text) => (text !== '' && !controlCharacter.test(text) ? text : undefined),
    rule: 'must be a part of a user agent',
  },
};

/** Whether a stored value is such lists. */
export function isExclusions(value: unknown): value is Exclusions {
  if (typeof value !== 'object' || value === null) return false;
  return Object.keys(exclusionLists).every((name) => isTextList(Reflect.get(value, name)));
}
