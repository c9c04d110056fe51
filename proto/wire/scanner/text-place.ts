// Finds the place of a byte of a body in its request: an event's index and a path. Runs only for refused bodies, and
// only for bodies that are JSON. Walks the bytes once and decodes only the names that it returns.

import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
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

/** An open object, with its current name and its quotes as a range of the body, or an open array, with the position. */
interface Level {
  isObject: boolean;
  nameStart: number;
  nameEnd: number;
  position: number;
}

/** The place of the token that holds the byte at `offset`. */
export function placeInText(body: Uint8Array, offset: number): TextPlace {
  const levels: Level[] = [];
  let level: Level | undefined;
  let textStart = 0;
  for (let at = 0; at <= offset && at < body.length; at++) {
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
        level = { isObject: body[at] === openBrace, nameStart: 0, nameEnd: 0, position: 0 };
        levels.push(level);
        break;
      case closeBrace:
      case closeBracket:
        levels.pop();
        level = levels.at(-1);
        break;
      case comma:
        if (level !== undefined) level.position++;
        break;
    }
  }
  return placeOf(body, levels);
}

/** The place of the closing quote of the string that opens at `start`. */
function endOfText(body: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < body.length && body[at] !== quote) at += body[at] === backslash ? 2 : 1;
  return at;
}

function nextVisible(body: Uint8Array, at: number): number | undefined {
  while ((body[at] ?? 0xff) <= 0x20) at++;
  return body[at];
}

function nameOf(body: Uint8Array, { nameStart, nameEnd }: Level): string {
  if (nameEnd === 0) return '';
  const value: unknown = JSON.parse(
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(body.subarray(nameStart, nameEnd)),
  );
  return typeof value === 'string' ? value : '';
}

function placeOf(body: Uint8Array, levels: readonly Level[]): TextPlace {
  const [root, list, event, properties, value] = levels;
  const rootName = root === undefined ? '' : nameOf(body, root);
  if (rootName !== 'events' || list === undefined || list.isObject) {
    return { index: -1, field: shown(rootName || 'body') };
  }
  if (event === undefined) return { index: -1, field: 'events' };
  const eventName = shown(nameOf(body, event));
  const map =
    properties?.isObject === true ? propertyPath(eventName, nameOf(body, properties)) : eventName;
  const variant = value?.isObject === true ? `.${shown(nameOf(body, value))}` : '';
  return { index: list.position, field: `${map}${variant}` };
}
