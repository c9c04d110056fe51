// Puts the erasure of persons and of whole projects together for one process: its turns at requests, and at files of
// what was deleted. Requests are query/'s and control/'s to write.

import { buckets } from '../platform/broker/buckets.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { readErasureWork } from '../platform/erasure/erasure-record.ts';
import { runTurns, type Turns } from '../platform/turns/run-turns.ts';
import type { ErasureParts } from './erasure-parts.ts';
import { hasOpen, takeTurn } from './take-turn.ts';
import { removeFiles } from './whole/remove-files.ts';

type Work = 'requests' | 'files';
const all: readonly Work[] = ['requests', 'files'];
/** Between two looks at the files of a data directory. */
const filesEveryMs = 30_000;

export interface ErasureOptions extends Omit<ErasureParts, 'work'> {
  /** With files of kept exports and of imports. */
  dataDir: string;
}

/** Begins to work on requests: a batch of an instance's is worked on at a time. */
export function startErasures({ dataDir, ...options }: ErasureOptions): Turns {
  const { nats, requests, clock, log } = options;
  return runTurns<Work>({
    ...{ noun: 'erasure', clock, log },
    all: () => all,
    nameOf: (work) => work,
    organizationOf: (work) => work,
    async take(work) {
      if (work === 'files') {
        await removeFiles(requests, dataDir);
        return clock.nowMs() + filesEveryMs;
      }
      // Opened at each turn, which costs far less than what is done in it.
      return hasOpen(options)
        ? takeTurn({ ...options, work: await openBucket(nats, buckets.instance, readErasureWork) })
        : clock.nowMs();
    },
  });
}
