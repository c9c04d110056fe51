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

const version = 1;
const timeAt = 1;
const idAt = 9;
const sealAt = 25;
const sealBytes = 12;
/** Base64 without padding. */
const tokenCharacters = Math.ceil(((sealAt + sealBytes) * 4) / 3);

/** `conditions` are the bytes of everything that selects items: project, filters, range. */
export function encodeCursor(position: Position, conditions: Uint8Array): string {
  const token = Buffer.alloc(sealAt + sealBytes);
  token[0] = version;
  token.writeBigInt64BE(BigInt(position.timeMs), timeAt);
  token.write(position.id.replaceAll('-', ''), idAt, 'hex');
  seal(token, conditions).copy(token, sealAt);
  return token.toString('base64url');
}

/** Undefined if the token is damaged or belongs to other conditions. */
export function decodeCursor(text: string, conditions: Uint8Array): Position | undefined {
  if (text.length !== tokenCharacters) return undefined;
  const token = Buffer.from(text, 'base64url');
  // Node skips characters that are not base64url: only the exact text is a token.
  if (token.length !== sealAt + sealBytes || token.toString('base64url') !== text) return undefined;
  if (token[0] !== version || !seal(token, conditions).equals(token.subarray(sealAt))) {
    return undefined;
  }
  const hex = token.toString('hex', idAt, sealAt);
  return {
    timeMs: Number(token.readBigInt64BE(timeAt)),
    id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  };
}

function seal(token: Buffer, conditions: Uint8Array): Buffer {
  const hash = createHash('sha256').update(token.subarray(0, sealAt)).update(conditions);
  return hash.digest().subarray(0, sealBytes);
}
