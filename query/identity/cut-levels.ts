// Cuts a stored trait that nests deeper than Identify takes it now: many readers of protobuf refuse a whole answer for
// one such value.

import { maxTraitLevels } from '../../platform/limits.ts';

/** Stands in an answer for an object or a list that lies too deep. */
export const cutNote = `(not shown: nested deeper than ${maxTraitLevels} levels)`;

/** Takes a trait's value as JSON text; each object or list beyond the deepest level becomes the note. */
export function cutLevels(json: string): string {
  // Each level has two brackets at least.
  if (json.length <= 2 * maxTraitLevels || !/^[[{]/.test(json)) return json;
  let level = 0;
  let kept = '';
  let from = 0;
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case '"':
        at = closingQuote(json, at);
        break;
      case '[':
      case '{':
        if (level++ === maxTraitLevels) kept += json.slice(from, at) + JSON.stringify(cutNote);
        break;
      case ']':
      case '}':
        if (--level === maxTraitLevels) from = at + 1;
        break;
    }
  }
  return kept + json.slice(from);
}

function closingQuote(json: string, opening: number): number {
  let at = opening + 1;
  while (json[at] !== '"' && at < json.length) at += json[at] === '\\' ? 2 : 1;
  return at;
}
