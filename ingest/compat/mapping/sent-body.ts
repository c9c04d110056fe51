// From the bytes of a request to the JSON that it holds. The Content-Type of these SDKs says little: its first bytes
// tell what a body is. Inflating is left to the caller, who counts its memory.

import type { ParsedJson } from '../../validation/text/reference-body.ts';
import { invalidBody } from '../../validation/text/reference-body.ts';
import { readCheckedJson } from './checked-json.ts';

export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** By its first character: JSON of these SDKs is an object or a list. */
export function isJson(bytes: Uint8Array): boolean {
  const first = firstByte(bytes);
  return first !== undefined && isJsonStart(first);
}

/** JSON as it is, the field `data` of a form, base64 of either, or another form; `{}` of an empty body. */
export function jsonTextOf(bytes: Buffer): Buffer {
  const first = firstByte(bytes);
  if (first === undefined) return Buffer.from('{}');
  if (isJsonStart(first)) return bytes;
  const text = bytes.toString('latin1').trim();
  if (!text.includes('=') || /^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return fromBase64(text);
  const data = new URLSearchParams(bytes.toString()).get('data');
  return data === null ? bytes : dataText(data);
}

/** The value of a form's or a URL's `data`: JSON, or base64 of it. A plus that became a space is one again. */
export function dataText(data: string): Buffer {
  const text = data.trim();
  return isJsonStart(text.charCodeAt(0))
    ? Buffer.from(text)
    : fromBase64(text.replaceAll(' ', '+'));
}

export function readSentJson(text: Buffer): ParsedJson {
  return text.length === 0 ? invalidBody('body_json') : readCheckedJson(text);
}

function fromBase64(text: string): Buffer {
  return Buffer.from(text, 'base64');
}

const space = 0x20;

function firstByte(bytes: Uint8Array): number | undefined {
  for (const byte of bytes) {
    const isSkipped = byte <= space || byte === 0xef || byte === 0xbb || byte === 0xbf;
    if (!isSkipped) return byte;
  }
  return undefined;
}

function isJsonStart(character: number): boolean {
  return character === 0x7b || character === 0x5b;
}
