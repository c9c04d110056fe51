// Finds the byte at which a text stops being JSON, for the message of a refusal. JSON.parse's own message does not
// always tell it, and may repeat the text. Makes no object, and looks at no text longer than a MiB.

import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  minus,
  openBrace,
  openBracket,
  point,
  quote,
  space,
  zero,
} from '../proto/wire/json-characters.ts';

const maxBytes = 1_048_576;

/** `must be valid JSON` goes before it; undefined for JSON and for a long text. Takes valid UTF-8. */
export function jsonFault(json: Uint8Array): string | undefined {
  if (json.length > maxBytes) return undefined;
  const at = faultAt(json);
  return at === undefined ? undefined : jsonFaultAt(json, at);
}

/** The same for a text that is known to stop being JSON at this byte. */
export function jsonFaultAt(json: Uint8Array, at: number): string | undefined {
  if (json.length > maxBytes) return undefined;
  return at === json.length
    ? `the text ends too early, at byte ${at}`
    : `the fault is at byte ${at}, counted from 0`;
}

/** The first byte that no JSON can have there; the text's length where it ends too early. */
function faultAt(json: Uint8Array): number | undefined {
  /** The opening bytes of the objects and arrays around the value at `at`. */
  const open: number[] = [];
  for (let at = 0; ; ) {
    at = visible(json, at);
    const byte = json[at];
    if (byte === openBrace || byte === openBracket) {
      at = visible(json, at + 1);
      if (json[at] !== closingOf(byte)) {
        open.push(byte);
        if (byte === openBrace) at = behindName(json, at);
        if (at < 0) return ~at;
        continue;
      }
      at++;
    } else at = behindScalar(json, at);
    if (at < 0) return ~at;
    at = behindValue(json, at, open);
    if (at < 0) return ~at;
    if (open.length === 0) return at === json.length ? undefined : at;
  }
}

// Each of these functions returns the place behind its part of the text, or ~place of the first byte that is wrong.

/** `at` is where a value ends. Skips the brackets that close there, then the comma and the name of the next value. */
function behindValue(json: Uint8Array, at: number, open: number[]): number {
  for (;;) {
    at = visible(json, at);
    const around = open.at(-1);
    if (around === undefined) return at;
    if (json[at] === comma) {
      const next = visible(json, at + 1);
      return around === openBrace ? behindName(json, next) : next;
    }
    if (json[at] !== closingOf(around)) return ~at;
    open.pop();
    at++;
  }
}

function closingOf(opening: number): number {
  return opening === openBrace ? closeBrace : closeBracket;
}

function visible(json: Uint8Array, at: number): number {
  for (;;) {
    const byte = json[at];
    if (byte !== space && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    at++;
  }
}

/** A name and its colon. */
function behindName(json: Uint8Array, at: number): number {
  if (json[at] !== quote) return ~at;
  const end = behindString(json, at);
  if (end < 0) return end;
  const next = visible(json, end);
  return json[next] === colon ? next + 1 : ~next;
}

function behindScalar(json: Uint8Array, at: number): number {
  switch (json[at]) {
    case quote:
      return behindString(json, at);
    case 0x74:
      return behindWord(json, at, 'true');
    case 0x66:
      return behindWord(json, at, 'false');
    case 0x6e:
      return behindWord(json, at, 'null');
    default:
      return behindNumber(json, at);
  }
}

function behindWord(json: Uint8Array, at: number, word: string): number {
  for (let index = 0; index < word.length; index++) {
    if (json[at + index] !== word.charCodeAt(index)) return ~(at + index);
  }
  return at + word.length;
}

function behindString(json: Uint8Array, at: number): number {
  for (at++; ; at++) {
    const byte = json[at];
    if (byte === quote) return at + 1;
    if (byte === undefined || byte < space) return ~at;
    if (byte !== backslash) continue;
    at++;
    if (json[at] === 0x75) {
      for (let index = 1; index <= 4; index++) if (!isHex(json[at + index])) return ~(at + index);
      at += 4;
    } else if (!escapes.has(json[at] ?? 0)) return ~at;
  }
}

const escapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));

function isHex(byte = 0): boolean {
  return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}

function isDigit(byte = 0): boolean {
  return byte >= zero && byte <= 0x39;
}

function behindNumber(json: Uint8Array, at: number): number {
  if (json[at] === minus) at++;
  let end = json[at] === zero ? at + 1 : behindDigits(json, at);
  if (end > 0 && json[end] === point) end = behindDigits(json, end + 1);
  if (end < 0 || ((json[end] ?? 0) | 0x20) !== 0x65) return end;
  const sign = json[end + 1];
  return behindDigits(json, sign === minus || sign === 0x2b ? end + 2 : end + 1);
}

function behindDigits(json: Uint8Array, at: number): number {
  if (!isDigit(json[at])) return ~at;
  while (isDigit(json[at])) at++;
  return at;
}
