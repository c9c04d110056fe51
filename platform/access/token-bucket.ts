// Rate limits: one token bucket for each key, refilled by the clock, so that a limit holds over time and a burst still
// passes. Does not know what a token stands for (an event, a read), nor how a refusal is worded.

import type { Clock } from '../clock.ts';
import { setBounded } from '../memory/bounded-map.ts';

interface TokenBucketOptions {
  /** Tokens that a bucket gains each second; 0 switches the limit off. */
  perSecond: number;
  /** Tokens that a full bucket holds; at least 1. */
  burst: number;
  clock: Clock;
  /** Keys remembered at once (100,000). Beyond it the longest unused is forgotten, and returns with a full bucket. */
  maxBuckets?: number;
}

export interface TokenBuckets {
  /**
   * Takes `count` tokens and returns 0; or takes none and returns the whole seconds, at least 1, until they are there:
   * the value of Retry-After. A full bucket lets more than `burst` pass at once and keeps a debt, for which the key's
   * next takes wait: so no request is refused for ever.
   */
  take(key: string, count: number): number;
  /** Gives one token back to a key that took it. */
  give(key: string): void;
}

interface Bucket {
  /** Below 0: a debt. */
  tokens: number;
  filledAtMs: number;
}

const defaultMaxBuckets = 100_000;

/** Buckets start full. Throws RangeError where an option is out of its bounds. */
export function createTokenBuckets(options: TokenBucketOptions): TokenBuckets {
  const { perSecond, burst, clock, maxBuckets = defaultMaxBuckets } = options;
  if (!(perSecond >= 0) || !(burst >= 1) || !(maxBuckets >= 1)) {
    throw new RangeError('token bucket: perSecond must be >= 0, burst and maxBuckets >= 1');
  }
  if (perSecond === 0) return { take: () => 0, give: () => {} };
  // In order of last use: a Map keeps the order of insertion, and a take of another key than the last inserts anew.
  const buckets = new Map<string, Bucket>();
  let lastKey: string | undefined;

  return {
    take(key, count) {
      const nowMs = clock.nowMs();
      const known = buckets.get(key);
      const bucket = known ?? { tokens: burst, filledAtMs: nowMs };
      // A clock that steps back adds nothing; the bucket then fills from the new time.
      const gained = (Math.max(0, nowMs - bucket.filledAtMs) / 1_000) * perSecond;
      bucket.tokens = Math.min(burst, bucket.tokens + gained);
      bucket.filledAtMs = nowMs;
      if (key !== lastKey) {
        buckets.delete(key);
        setBounded(buckets, key, bucket, maxBuckets);
        lastKey = key;
      }

      const missing = Math.min(count, burst) - bucket.tokens;
      if (missing > 0) return Math.max(1, Math.ceil(missing / perSecond));
      bucket.tokens -= count;
      return 0;
    },
    give(key) {
      const bucket = buckets.get(key);
      if (bucket !== undefined) bucket.tokens = Math.min(burst, bucket.tokens + 1);
    },
  };
}
