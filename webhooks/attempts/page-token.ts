// The page token of the log: where a page ended, sealed with what selected it. The seal is no secret, as a token opens
// nothing that its query does not open: it tells a damaged token, or one of another query, from a good one.

import { createHash } from 'node:crypto';

export interface LogPosition {
  attemptTimeMs: number;
  attemptId: string;
}

const sealBytes = 12;
const idAt = sealBytes + 8;
const maxIdBytes = 128;

/** `conditions` names everything that selects rows. */
export function encodePageToken(position: LogPosition, conditions: string): string {
  const id = Buffer.from(position.attemptId);
  const token = Buffer.alloc(idAt + id.length);
  token.writeBigInt64BE(BigInt(position.attemptTimeMs), sealBytes);
  id.copy(token, idAt);
  sealOf(token, conditions).copy(token);
  return token.toString('base64url');
}

/** Undefined where the token is damaged or belongs to another query. */
export function decodePageToken(text: string, conditions: string): LogPosition | undefined {
  if (text.length > Math.ceil(((idAt + maxIdBytes) * 4) / 3)) return undefined;
  const token = Buffer.from(text, 'base64url');
  // Node skips characters that are not base64url: only the exact text is a token.
  if (token.length <= idAt || token.toString('base64url') !== text) return undefined;
  if (!sealOf(token, conditions).equals(token.subarray(0, sealBytes))) return undefined;
  return {
    attemptTimeMs: Number(token.readBigInt64BE(sealBytes)),
    attemptId: token.toString('utf8', idAt),
  };
}

function sealOf(token: Buffer, conditions: string): Buffer {
  const hash = createHash('sha256').update(token.subarray(sealBytes)).update(conditions);
  return hash.digest().subarray(0, sealBytes);
}
