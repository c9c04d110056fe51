// SQL that looks for a part of a text, or for its beginning, whatever the case of either (foldCase), in time that
// grows with the text alone. The engine's position functions and ILIKE compare the part anew at each place that begins
// like it: positionCaseInsensitiveUTF8 of 'aaa…ab' in a million letters a takes 5 s, and no time limit and no KILL ends
// it before its block. As a regular expression it takes 4 ms. (?i) is for letters of ASCII, which need no folding then,
// and keeps the engine from turning an expression that is a plain text into a position.

import { foldCase } from '../../platform/filters/fold-case.ts';
import type { Bindings } from './bindings.ts';

/** SQL for whether `text`, SQL too, holds `part`, which is no longer than filter-bounds.ts allows. */
export function partSearch(part: string, bindings: Bindings): (text: string) => string {
  const pattern = bindings.bind('String', `(?i)${literal(foldCase(part))}`);
  return (text) => `match(${foldedSql(text)}, ${pattern})`;
}

/** SQL for whether `text`, SQL too, begins with `part`; the same as partSearch otherwise. */
export function prefixSearch(part: string, bindings: Bindings): (text: string) => string {
  const pattern = bindings.bind('String', `(?i)^${literal(foldCase(part))}`);
  return (text) => `match(${foldedSql(text)}, ${pattern})`;
}

/**
 * SQL for foldCase of `text`, but for letters of ASCII. To fold a text takes up to six times as long as to search it,
 * and a text of ASCII needs none. The engine fails at bytes that are no UTF-8: these stay as they are.
 */
function foldedSql(text: string): string {
  const folded = `replaceAll(caseFoldUTF8(${text}), 'i\\xCC\\x87', 'i')`;
  return `multiIf(isValidASCII(${text}), ${text}, isValidUTF8(${text}), ${folded}, ${text})`;
}

/** The expression that means `part` itself: each ASCII character but letters and digits by its number. */
function literal(part: string): string {
  return part.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
    /[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]/g,
    (character) => `\\x{${character.charCodeAt(0).toString(16)}}`,
  );
}
