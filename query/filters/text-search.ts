// SQL that looks for a part of a text, or for its beginning, upper and lower case alike, in time that grows with the
// text alone. The engine's positionCaseInsensitiveUTF8 and ILIKE compare the part anew at each place that begins like
// it: 'aaa…ab' in a million letters a takes 5 s, and no time limit and no KILL ends it before its block. As a regular
// expression it takes 4 ms.

import type { Bindings } from './bindings.ts';

/** SQL for whether `text`, SQL too, holds `part`, which is no longer than filter-bounds.ts allows. */
export function partSearch(part: string, bindings: Bindings): (text: string) => string {
  const pattern = bindings.bind('String', `(?i)${literal(part)}`);
  return (text) => `match(${text}, ${pattern})`;
}

/** SQL for whether `text`, SQL too, begins with `part`; the same as partSearch otherwise. */
export function prefixSearch(part: string, bindings: Bindings): (text: string) => string {
  const pattern = bindings.bind('String', `(?i)^${literal(part)}`);
  return (text) => `match(${text}, ${pattern})`;
}

/** The expression that means `part` itself: each ASCII character but letters and digits by its number. */
function literal(part: string): string {
  return part.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
    /[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]/g,
    (character) => `\\x{${character.charCodeAt(0).toString(16)}}`,
  );
}
