// A page token: the position where a page ended, sealed with the conditions of its request. The seal is no secret, as a
// token opens nothing that its conditions do not open: it tells a damaged token, or one of another request, from a good
// one.

import { createHash } from 'node:crypto';

/** The place of a page's last event or profile in the list's order. */
export interface Position {
  timeMs: number;
  /** Breaks ties of `timeMs`: 16 bytes, written as a UUID in lower case. */
  id: string;
}

/** The bytes of a position: this version, its time, its id. The seal behind them is the beginning of a hash. */
const version = 1;
const timeAt = 1;
const idAt = 9;
const positionBytes = 25;
const sealBytes = 12;
/** In base64: a text of 100 characters and more than the rest of any position. */
const maxTokenCharacters = 1_024;

/** `conditions` are the bytes of everything that selects items: project, filters, range. */
export function encodeCursor(position: Position, conditions: Uint8Array): string {
  const content = Buffer.alloc(positionBytes);
  content[0] = version;
  content.writeBigInt64BE(BigInt(position.timeMs), timeAt);
  content.write(position.id.replaceAll('-', ''), idAt, 'hex');
  return sealCursor(content, conditions);
}

/** Undefined if the token is damaged or belongs to other conditions. */
export function decodeCursor(text: string, conditions: Uint8Array): Position | undefined {
  const content = openCursor(text, conditions);
  if (content?.length !== positionBytes || content[0] !== version) return undefined;
  const hex = content.toString('hex', idAt);
  return {
    timeMs: Number(content.readBigInt64BE(timeAt)),
    id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  };
}

/** A token of any position. */
export function sealCursor(content: Uint8Array, conditions: Uint8Array): string {
  return Buffer.concat([content, sealOf(content, conditions)]).toString('base64url');
}

/** The content of a token; undefined as for decodeCursor. */
export function openCursor(text: string, conditions: Uint8Array): Buffer | undefined {
  if (text.length > maxTokenCharacters) return undefined;
  const token = Buffer.from(text, 'base64url');
  // Node skips characters that are not base64url: only the exact text is a token.
  if (token.length < sealBytes || token.toString('base64url') !== text) return undefined;
  const content = token.subarray(0, -sealBytes);
  return sealOf(content, conditions).equals(token.subarray(-sealBytes)) ? content : undefined;
}

function sealOf(content: Uint8Array, conditions: Uint8Array): Buffer {
  const hash = createHash('sha256').update(content).update(conditions);
  return hash.digest().subarray(0, sealBytes);
}
