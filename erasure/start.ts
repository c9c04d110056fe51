// Puts the erasure of persons and of whole projects together for one process, and that of events which projects keep no
// longer: its turns, and those at files of what was deleted. Requests are query/'s and control/'s to write.

import { buckets } from '../platform/broker/buckets.ts';
import { openBucket, type RecordBucket } from '../platform/broker/record-bucket.ts';
import type { WatchedBucket } from '../platform/broker/watched-bucket.ts';
import {
  type ErasureRecord,
  type ErasureWork,
  readErasureWork,
} from '../platform/erasure/erasure-record.ts';
import { runTurns, type Turns } from '../platform/turns/run-turns.ts';
import type { ErasureParts } from './erasure-parts.ts';
import { takeLookTurn } from './look-again.ts';
import { type RetainedParts, takeRetainedTurn } from './retained/take-retained-turn.ts';
import { hasOpen, takeTurn } from './take-turn.ts';
import { removeFiles } from './whole/remove-files.ts';

/** All of an instance: a batch of requests, or the old events of a project, is worked on at a time. */
type Work = 'requests' | 'retained' | 'files' | 'late rows';
const all: readonly Work[] = ['requests', 'retained', 'files', 'late rows'];
/** Between two looks at the files of a data directory. */
const filesEveryMs = 30_000;

interface ErasureOptions extends Omit<ErasureParts, 'work'>, Pick<RetainedParts, 'projects'> {
  requests: ErasureParts['requests'] & Pick<WatchedBucket<ErasureRecord>, 'get'>;
  /** With files of kept exports and of imports. */
  dataDir: string;
}

/** Begins to work. */
export function startErasures({ dataDir, ...options }: ErasureOptions): Turns {
  const { nats, requests, clock, log } = options;
  const lookedAtMs = new Map<string, number>();
  let work: RecordBucket<ErasureWork> | undefined;
  const hasErasure = () => hasOpen(options);
  return runTurns<Work>({
    ...{ noun: 'erasure', clock, log },
    all: () => all,
    nameOf: (work) => work,
    // One turn at once of those that take the same lease.
    organizationOf: (work) => (work === 'files' ? work : 'rows'),
    async take(kind) {
      if (kind === 'files') {
        await removeFiles(requests, dataDir);
        return clock.nowMs() + filesEveryMs;
      }
      if (kind === 'requests' && !hasErasure()) return clock.nowMs();
      // By the first turn that needs it: whoever waits for another's lease comes twice a second.
      work ??= await openBucket(nats, buckets.instance, readErasureWork);
      if (kind === 'late rows') return takeLookTurn({ ...options, work });
      return kind === 'requests'
        ? takeTurn({ ...options, work })
        : takeRetainedTurn({ ...options, work, lookedAtMs, hasErasure });
    },
  });
}
