// Codes on paper, for whoever has lost the app: random, kept as hashes, each good once.

import { randomInt } from 'node:crypto';
import { sha256 } from '../../../platform/access/ids.ts';

const count = 10;
// Nothing that looks like another one: neither 0 nor o, neither 1, i nor l.
const alphabet = '23456789abcdefghjkmnpqrstuvwxyz';
/** 79 bits: a hash of them needs no salt and no work. */
const characters = 16;

/** Ten codes, in groups of four. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: count }, () => {
    const drawn = Array.from({ length: characters }, () =>
      alphabet.charAt(randomInt(alphabet.length)),
    );
    return (drawn.join('').match(/.{4}/g) ?? []).join('-');
  });
}

/** Of a code however it is grouped and in capitals or not; undefined for another text. */
export function recoveryHash(text: string): string | undefined {
  const code = text.replaceAll(/[\s-]/g, '').toLowerCase();
  return code.length === characters && /^[2-9a-z]+$/.test(code) ? sha256(code) : undefined;
}
