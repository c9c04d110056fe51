// The items of a JSON list one by one, however long the list and however it is broken into lines.

import type { Line } from './lines.ts';
import { UnreadableFile } from './unreadable-file.ts';

/** A longer item is refused: it is held whole. */
const maxItemCharacters = 64 * 1_048_576;
const [quote, backslash] = [0x22, 0x5c];
const opening = new Set([0x7b, 0x5b]);
const closing = new Set([0x7d, 0x5d]);

/** Each item that is an object or a list, with the line on which it begins. Throws an UnreadableFile. */
export async function* readJsonItems(lines: AsyncIterable<Line[]>): AsyncGenerator<Line> {
  let depth = 0;
  let isInText = false;
  let held = '';
  let number = 0;
  for await (const some of lines) {
    for (const { number: lineNumber, text } of some) {
      let start = depth > 1 ? 0 : -1;
      for (let at = 0; at < text.length; at++) {
        const character = text.charCodeAt(at);
        if (isInText) {
          if (character === backslash) at++;
          else if (character === quote) isInText = false;
        } else if (character === quote) isInText = true;
        else if (opening.has(character)) {
          if (++depth !== 2) continue;
          start = at;
          number = lineNumber;
        } else if (closing.has(character) && --depth === 1) {
          yield { number, text: held + text.slice(start, at + 1) };
          held = '';
          start = -1;
        }
      }
      if (start >= 0) held += `${text.slice(start)}\n`;
      if (held.length > maxItemCharacters) {
        throw new UnreadableFile(`line ${number}: an item of more than 64 Mi characters`);
      }
    }
  }
  if (depth > 0) throw new UnreadableFile('the list does not end: the file is not whole');
}
