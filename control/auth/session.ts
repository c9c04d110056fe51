// A session is a family of refresh tokens, and only its newest token is good. Each use takes the next token by
// compare-and-set. A spent token that comes back later than parallel tabs can explain was copied: it ends the family.

import { randomBytes } from 'node:crypto';
import { sha256 } from '../../platform/access/ids.ts';
import { BucketFull, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import { dayMs } from '../../platform/clock.ts';

export interface SessionRecord {
  schemaVersion: 1;
  customerId: string;
  /** SHA-256 of the part that all tokens of the family share: tells a spent token from a made-up one. */
  familyHash: string;
  /** SHA-256 of the secret of the newest token. */
  tokenHash: string;
  /** Tokens spent within the grace time. */
  spent: readonly { hash: string; atMs: number }[];
  /** When the credentials were checked that began the family. */
  createTimeMs: number;
  expireTimeMs: number;
}

export interface Sessions {
  /** A new family and its first token; `checkedAtMs` is a time before the customer's record was last read. */
  start(customerId: string, checkedAtMs: number): Promise<StartedSession>;
  /** Spends a token for the next one; undefined if it is not good. */
  rotate(refreshToken: string): Promise<RotatedSession | undefined>;
  /** Ends the token's family, if there is one. */
  end(refreshToken: string): Promise<void>;
}

export interface StartedSession {
  sessionId: string;
  refreshToken: string;
  createTimeMs: number;
}

interface RotatedSession extends StartedSession {
  customerId: string;
}

/** Ends the access tokens of a session in every process. */
export type EndAccess = (customerId: string, sessionId: string) => Promise<void>;

/** The places that a customer has for sessions. */
export interface SessionPlaces {
  endAccess: EndAccess;
  /** Notes a customer's new session, and returns the older ones that it displaces. */
  take(customerId: string, sessionId: string): Promise<readonly string[]>;
  /** Ids of the customer's newest sessions, oldest first, those that have ended among them. */
  taken(customerId: string): readonly string[];
}

/** Counted anew at each use. */
export const refreshTokenDays = 90;
const slidingLifetimeMs = refreshTokenDays * dayMs;
const replayGraceMs = 10_000;
// Spent tokens kept of one family. Beyond it the oldest counts as spent before the grace time.
const maxSpentKept = 32;
const tokenPattern = /^ref_([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

export function createSessions(
  bucket: RecordBucket<SessionRecord>,
  places: SessionPlaces,
  clock: Clock,
): Sessions {
  // The access tokens end first: whoever tries again after a failure still finds the family.
  const end = async (customerId: string, sessionId: string): Promise<void> => {
    await places.endAccess(customerId, sessionId);
    await bucket.kv.delete(sessionId);
  };
  return {
    async start(customerId, createTimeMs) {
      const [familySecret, secret] = [newSecret(16), newSecret(32)];
      const sessionId = await stored(bucket, places, {
        schemaVersion: 1,
        customerId,
        familyHash: sha256(familySecret),
        tokenHash: sha256(secret),
        spent: [],
        createTimeMs,
        expireTimeMs: clock.nowMs() + slidingLifetimeMs,
      });
      const refreshToken = `ref_${sessionId}.${familySecret}.${secret}`;
      return { sessionId, refreshToken, createTimeMs };
    },
    async rotate(refreshToken) {
      const found = await findFamily(bucket, refreshToken, clock);
      if (found === undefined) return undefined;
      const { sessionId, familySecret, secret, record, revision } = found;
      const nowMs = clock.nowMs();
      const recent = record.spent.filter(({ atMs }) => nowMs - atMs <= replayGraceMs);
      const hash = sha256(secret);
      if (hash !== record.tokenHash) {
        const isReplay = !recent.some((spent) => spent.hash === hash);
        if (isReplay) await end(record.customerId, sessionId);
        return undefined;
      }
      const next = newSecret(32);
      const written = await bucket.update(
        sessionId,
        {
          ...record,
          tokenHash: sha256(next),
          spent: [...recent, { hash, atMs: nowMs }].slice(-maxSpentKept),
          expireTimeMs: nowMs + slidingLifetimeMs,
        },
        revision,
      );
      // Another tab was first, and this token is spent within the grace time.
      if (written.kind === 'conflict') return undefined;
      const { customerId, createTimeMs } = record;
      const token = `ref_${sessionId}.${familySecret}.${next}`;
      return { sessionId, customerId, createTimeMs, refreshToken: token };
    },
    async end(refreshToken) {
      const found = await findFamily(bucket, refreshToken, clock);
      if (found !== undefined) await end(found.record.customerId, found.sessionId);
    },
  };
}

/** The new session's id. Displaced ones' access tokens live on for minutes: nothing tells that others have them. */
async function stored(
  bucket: RecordBucket<SessionRecord>,
  places: SessionPlaces,
  record: SessionRecord,
): Promise<string> {
  const { customerId } = record;
  const sessionId = newSecret(16);
  try {
    const made = await bucket.create(sessionId, record);
    if (made.kind === 'conflict') throw new Error('a random id was drawn twice');
  } catch (error) {
    if (!(error instanceof BucketFull)) throw error;
    // Others may have filled the bucket. A customer with sessions can sign in all the same: the new session replaces
    // their oldest.
    for (const old of places.taken(customerId)) {
      const found = await bucket.get(old);
      if (found.kind !== 'found') continue;
      const { kind } = await bucket.update(old, record, found.revision);
      if (kind === 'written') return old;
    }
    throw error;
  }
  for (const old of await places.take(customerId, sessionId)) await bucket.kv.delete(old);
  return sessionId;
}

async function findFamily(
  bucket: RecordBucket<SessionRecord>,
  refreshToken: string,
  clock: Clock,
): Promise<
  | {
      sessionId: string;
      familySecret: string;
      secret: string;
      record: SessionRecord;
      revision: number;
    }
  | undefined
> {
  const [, sessionId, familySecret, secret] = tokenPattern.exec(refreshToken) ?? [];
  if (sessionId === undefined || familySecret === undefined || secret === undefined) {
    return undefined;
  }
  const found = await bucket.get(sessionId);
  if (found.kind !== 'found') return undefined;
  const { record, revision } = found;
  if (record.familyHash !== sha256(familySecret)) return undefined;
  if (clock.nowMs() >= record.expireTimeMs) return undefined;
  return { sessionId, familySecret, secret, record, revision };
}

function newSecret(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}

/** Narrows parsed JSON to a record; undefined if it is none. */
export function readSession(value: unknown): SessionRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const record = value as Partial<SessionRecord>;
  const sound =
    record.schemaVersion === 1 &&
    typeof record.customerId === 'string' &&
    typeof record.familyHash === 'string' &&
    typeof record.tokenHash === 'string' &&
    typeof record.createTimeMs === 'number' &&
    typeof record.expireTimeMs === 'number' &&
    Array.isArray(record.spent);
  return sound ? (record as SessionRecord) : undefined;
}
