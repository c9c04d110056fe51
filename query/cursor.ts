// A page token: where the page before ended, sealed together with the conditions it belongs to. The seal is no secret,
// as a token opens nothing that its conditions do not: it tells a damaged or misplaced token from a whole one.

import { createHash } from 'node:crypto';

/** The last event of a page, in the feed's order. */
export interface Position {
  occurTimeMs: number;
  /** A UUID in lower case. */
  eventId: string;
}

const version = 1;
const timeAt = 1;
const eventIdAt = 9;
const sealAt = 25;
const sealBytes = 12;

/** `conditions` are the bytes of all that selects the events: project, filters, range. */
export function encodeCursor(position: Position, conditions: Uint8Array): string {
  const token = Buffer.alloc(sealAt + sealBytes);
  token[0] = version;
  token.writeBigInt64BE(BigInt(position.occurTimeMs), timeAt);
  token.write(position.eventId.replaceAll('-', ''), eventIdAt, 'hex');
  seal(token, conditions).copy(token, sealAt);
  return token.toString('base64url');
}

/** undefined where the token is damaged, or was answered to other conditions. */
export function decodeCursor(text: string, conditions: Uint8Array): Position | undefined {
  const token = Buffer.from(text, 'base64url');
  // Decoding skips what is not base64url: only the exact text is the token.
  if (token.length !== sealAt + sealBytes || token.toString('base64url') !== text) return undefined;
  if (token[0] !== version || !seal(token, conditions).equals(token.subarray(sealAt))) {
    return undefined;
  }
  const hex = token.toString('hex', eventIdAt, sealAt);
  return {
    occurTimeMs: Number(token.readBigInt64BE(timeAt)),
    eventId: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  };
}

function seal(token: Buffer, conditions: Uint8Array): Buffer {
  const hash = createHash('sha256').update(token.subarray(0, sealAt)).update(conditions);
  return hash.digest().subarray(0, sealBytes);
}
