// Puts the erasure of persons together for one process: its turns. Requests are query/'s to write.

import { buckets } from '../platform/broker/buckets.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { readErasureWork } from '../platform/erasure/erasure-record.ts';
import { runTurns, type Turns } from '../platform/turns/run-turns.ts';
import type { ErasureParts } from './erasure-parts.ts';
import { hasOpen, takeTurn } from './take-turn.ts';

/** All of an instance: a batch of requests is worked on at a time. */
const whole = { name: 'work' } as const;

/** Begins to work on requests. */
export function startErasures(options: Omit<ErasureParts, 'work'>): Turns {
  const { nats, clock, log } = options;
  return runTurns<typeof whole>({
    ...{ noun: 'erasure', clock, log },
    all: () => [whole],
    nameOf: ({ name }) => name,
    organizationOf: ({ name }) => name,
    // Opened at each turn, which costs far less than what is done in it.
    take: async () =>
      hasOpen(options)
        ? takeTurn({ ...options, work: await openBucket(nats, buckets.instance, readErasureWork) })
        : clock.nowMs(),
  });
}
