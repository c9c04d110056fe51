// Finds the place of a byte of a body in its request: an event's index and a path. Runs only for refused bodies, and
// only for bodies that are JSON. Walks no further than a name or two: the scanner tells the member and the property.

import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  openBrace,
  openBracket,
  quote,
} from '../json-characters.ts';
import { propertyPath, shown } from '../violation-path.ts';

interface TextPlace {
  /** The event's place in the request, from 0; -1 where the byte is in no event. */
  index: number;
  /** The path inside the event, or inside the request where index is -1. */
  field: string;
}

/** An open object, with its current name and its quotes as a range of the body, or an open array. */
interface Level {
  isObject: boolean;
  nameStart: number;
  nameEnd: number;
}

/** A part of a request: the event of this index, or with -1 a member, which begins with its name. */
interface Part {
  /** Its place in the body, in bytes. */
  start: number;
  index: number;
  /** Where the names of the event's member, the property and its member begin that hold the byte, if there are such. */
  names: readonly number[];
}

/** A walk takes some 20 ns a byte, a hundred times what the scanner takes: beyond this the path ends earlier. */
const maxWalkBytes = 2_048;

/** The place of the token that holds the byte at `offset`, which is in `part`; undefined: in no part of an object. */
export function placeInPart(body: Uint8Array, part: Part | undefined, offset: number): TextPlace {
  if (part === undefined) return { index: -1, field: 'body' };
  const { start, index, names } = part;
  if (index >= 0) {
    const named = names.map((name): Level => {
      return { isObject: true, nameStart: name, nameEnd: endOfText(body, name) + 1 };
    });
    const from = named.at(-1)?.nameEnd ?? start;
    const last = from + maxWalkBytes;
    // A property whose member is not told has no other.
    const to = named.length === 2 ? Math.min(offset, last) : offset;
    const walked = named.length === 3 || to > last ? [] : levelsAt(body, from, to);
    return placeInEvent(body, [...named, ...walked], index);
  }
  return { index, field: shown(textAt(body, start, endOfText(body, start) + 1) || 'body') };
}

/** What is open at `offset`, from the value on that begins at `start`. */
function levelsAt(body: Uint8Array, start: number, offset: number): Level[] {
  const levels: Level[] = [];
  let level: Level | undefined;
  let textStart = 0;
  for (let at = start; at <= offset && at < body.length; at++) {
    switch (body[at]) {
      case quote:
        textStart = at;
        at = endOfText(body, at);
        if (level?.isObject === true && nextVisible(body, at + 1) === colon) {
          level.nameStart = textStart;
          level.nameEnd = at + 1;
        }
        break;
      case openBrace:
      case openBracket:
        level = { isObject: body[at] === openBrace, nameStart: 0, nameEnd: 0 };
        levels.push(level);
        break;
      case closeBrace:
      case closeBracket:
        levels.pop();
        level = levels.at(-1);
        break;
    }
  }
  return levels;
}

/** The place of the closing quote of the string that opens at `start`. */
function endOfText(body: Uint8Array, start: number): number {
  for (let at = start; ; ) {
    at = body.indexOf(quote, at + 1);
    if (at < 0) return body.length;
    let first = at;
    while (body[first - 1] === backslash) first--;
    if ((at - first) % 2 === 0) return at;
  }
}

function nextVisible(body: Uint8Array, at: number): number | undefined {
  while ((body[at] ?? 0xff) <= 0x20) at++;
  return body[at];
}

function nameOf(body: Uint8Array, { nameStart, nameEnd }: Level): string {
  return nameEnd === 0 ? '' : textAt(body, nameStart, nameEnd);
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The text of a JSON string with its quotes. */
function textAt(body: Uint8Array, start: number, end: number): string {
  const value: unknown = JSON.parse(decoder.decode(body.subarray(start, end)));
  return typeof value === 'string' ? value : '';
}

function placeInEvent(body: Uint8Array, levels: readonly Level[], index: number): TextPlace {
  const [event, properties, value] = levels;
  // A text in place of an event.
  if (event === undefined) return { index: -1, field: 'events' };
  const eventName = shown(nameOf(body, event));
  const map =
    properties?.isObject === true ? propertyPath(eventName, nameOf(body, properties)) : eventName;
  const variant = value?.isObject === true ? `.${shown(nameOf(body, value))}` : '';
  return { index, field: `${map}${variant}` };
}
