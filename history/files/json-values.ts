// The items of a JSON list one by one, however long the list and however it is broken into lines: Matomo writes all of
// them on one.

import type { Line } from './lines.ts';
import { UnreadableFile } from './unreadable-file.ts';

/** A longer item is refused: it is held whole. */
const maxItemCharacters = 64 * 1_048_576;
const [quote, backslash, newline, blank, bracket] = [0x22, 0x5c, 0x0a, 0x20, 0x5b];
const opening = new Set([0x7b, 0x5b]);
const closing = new Set([0x7d, 0x5d]);

/**
 * Each item that is an object or a list, with the line on which it begins; of a line that begins with another text than
 * a list's, no text: brackets in it mean something else. Throws an UnreadableFile.
 */
export async function* readJsonItems(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  const decoder = new TextDecoder();
  let depth = 0;
  let isInText = false;
  let isPassedOver = false;
  let held = '';
  let lines = 1;
  let number = 0;
  // A backslash at the end of a chunk hides the first character of the next one.
  let from = 0;
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    let start = depth > 1 ? 0 : -1;
    let at = from;
    for (; at < text.length; at++) {
      const character = text.charCodeAt(at);
      if (character === newline) {
        lines++;
        isPassedOver = false;
      } else if (depth === 0 && (isPassedOver || character !== bracket)) {
        if (isPassedOver || character <= blank) continue;
        isPassedOver = true;
        yield { number: lines, text: '' };
      } else if (isInText) {
        if (character === backslash) at++;
        else if (character === quote) isInText = false;
      } else if (character === quote) isInText = true;
      else if (opening.has(character)) {
        if (++depth !== 2) continue;
        start = at;
        number = lines;
      } else if (closing.has(character) && --depth === 1) {
        yield { number, text: held + text.slice(start, at + 1) };
        held = '';
        start = -1;
      }
    }
    from = at - text.length;
    if (start >= 0) held += text.slice(start);
    if (held.length > maxItemCharacters) {
      throw new UnreadableFile(`line ${number}: an item of more than 64 Mi characters`);
    }
  }
  if (depth > 0) throw new UnreadableFile('the list does not end: the file is not whole');
}
