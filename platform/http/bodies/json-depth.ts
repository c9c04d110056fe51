// Whether a body of JSON nests deeper than any reader of it takes. ingest's own readers look at it themselves.

import {
  backslash,
  closeBrace,
  closeBracket,
  openBrace,
  openBracket,
  quote,
} from '../../../proto/wire/json-characters.ts';
import { maxBodyDepth } from '../../limits.ts';

/** Takes valid JSON, and counts the objects and lists that are open at once. */
export function isTooDeep(json: Uint8Array): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case quote:
        for (at++; json[at] !== quote && at < json.length; at++) if (json[at] === backslash) at++;
        break;
      case openBrace:
      case openBracket:
        if (depth++ === maxBodyDepth) return true;
        break;
      case closeBrace:
      case closeBracket:
        depth--;
        break;
    }
  }
  return false;
}
