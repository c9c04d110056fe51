// Tokens in mails: a person who redeems one proves that they read the address's mail. A token is random, stored as a
// hash, and good once within 15 minutes. Sending the mail is sign-in/sign-in-with-magic-link.ts's.

import { randomBytes } from 'node:crypto';
import { sha256 } from '../../platform/access/ids.ts';
import { wrongLastSequence } from '../../platform/broker/connection/error-codes.ts';
import { apiErrorCode } from '../../platform/broker/nats.ts';
import type { RecordBucket } from '../../platform/broker/record-bucket.ts';
import type { Clock } from '../../platform/clock.ts';

export interface MagicLinkRecord {
  schemaVersion: 1;
  email: string;
  expireTimeMs: number;
}

export interface MagicLinks {
  /**
   * Makes a new token for the address and stores it; an `unexpected` one is in no mail and has no place of its own: the
   * same work is done, and such tokens are stored in each other's place.
   */
  issue(email: string, whose: 'expected' | 'unexpected'): Promise<string>;
  /** Spends a token and returns its address; undefined if it is unknown, expired or spent. */
  redeem(token: string): Promise<string | undefined>;
}

export const magicLinkMinutes = 15;
const tokenPattern = /^[A-Za-z0-9_-]{43}$/;
/** No token leads here. Strangers may ask for any number of addresses: they must not fill the bucket for the others. */
const unexpectedKey = 'unexpected';

export function createMagicLinks(bucket: RecordBucket<MagicLinkRecord>, clock: Clock): MagicLinks {
  return {
    async issue(email, whose) {
      const token = randomBytes(32).toString('base64url');
      const expireTimeMs = clock.nowMs() + magicLinkMinutes * 60_000;
      const record: MagicLinkRecord = { schemaVersion: 1, email, expireTimeMs };
      const key = sha256(token);
      if (whose === 'expected') await bucket.create(key, record);
      else await bucket.kv.put(unexpectedKey, JSON.stringify(record));
      return token;
    },
    async redeem(token) {
      if (!tokenPattern.test(token)) return undefined;
      const key = sha256(token);
      const found = await bucket.get(key);
      if (found.kind !== 'found' || clock.nowMs() >= found.record.expireTimeMs) return undefined;
      try {
        await bucket.kv.delete(key, { previousSeq: found.revision });
      } catch (error) {
        // Another request redeems the token at this moment.
        if (apiErrorCode(error) === wrongLastSequence) return undefined;
        throw error;
      }
      return found.record.email;
    },
  };
}

/** Narrows parsed JSON to a record; undefined if it is none. */
export function readMagicLink(value: unknown): MagicLinkRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { schemaVersion, email, expireTimeMs } = value as Partial<MagicLinkRecord>;
  if (schemaVersion !== 1 || typeof email !== 'string' || typeof expireTimeMs !== 'number') {
    return undefined;
  }
  return { schemaVersion, email, expireTimeMs };
}
