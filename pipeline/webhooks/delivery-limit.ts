// How many deliveries a project may cause: a token bucket for each project, filled by the times at which its events
// were received. So a writer that catches up with a backlog judges it by how fast it came, not how fast it is written.

import { setBounded } from '../../platform/memory/bounded-map.ts';

export const deliveriesPerSecond = 1_000;
const burst = 2 * deliveriesPerSecond;
/** Beyond it the project that was new the longest ago is forgotten, and returns with a full bucket. */
const maxProjects = 10_000;
/**
 * Requests of a stream are received in order but for this: an earlier time tells of a clock that was set back. A body
 * that comes slowly has the time of its head, a minute and some seconds ago at most (ingest/rpc/unary-route.ts).
 */
const clockStepMs = 120_000;

/** `surplus`: to be recorded as skipped. `unrecorded`: so many that they are not even recorded one by one. */
export type Grant = 'granted' | 'surplus' | 'unrecorded';

interface Bucket {
  deliveries: number;
  records: number;
  filledAtMs: number;
}

export class DeliveryLimit {
  readonly #buckets = new Map<string, Bucket>();

  /** Takes one delivery for an event that was received at `timeMs`. */
  take(projectId: string, timeMs: number): Grant {
    const bucket = this.#filled(projectId, timeMs);
    if (bucket.deliveries >= 1) {
      bucket.deliveries--;
      return 'granted';
    }
    if (bucket.records < 1) return 'unrecorded';
    bucket.records--;
    return 'surplus';
  }

  #filled(projectId: string, timeMs: number): Bucket {
    const known = this.#buckets.get(projectId);
    if (known === undefined) {
      const bucket = { deliveries: burst, records: burst, filledAtMs: timeMs };
      setBounded(this.#buckets, projectId, bucket, maxProjects);
      return bucket;
    }
    // Requests are not received in the order of the stream to the millisecond: an earlier one adds nothing, and takes
    // nothing back.
    const gained = (Math.max(0, timeMs - known.filledAtMs) / 1_000) * deliveriesPerSecond;
    known.deliveries = Math.min(burst, known.deliveries + gained);
    known.records = Math.min(burst, known.records + gained);
    const isSetBack = timeMs < known.filledAtMs - clockStepMs;
    // Else the bucket would stay empty until the clock is back at the time that it had.
    known.filledAtMs = isSetBack ? timeMs : Math.max(known.filledAtMs, timeMs);
    return known;
  }
}
