// When an engine has merged what it is going to merge: what is measured next must not pay for it, and what was measured
// before must.

import { setTimeout as delay } from 'node:timers/promises';
import { check } from './bench.ts';

export const countMergesSql = 'SELECT count() FROM system.merges';

const everyMs = 100;
/** Between two merges there is none for a moment. */
const quietTimes = 10;
const timeoutMs = 300_000;

/** Resolves once `countMerges` has answered 0 for a second; throws after five minutes. */
export async function untilMerged(countMerges: () => Promise<number>): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  for (let quiet = 0; quiet < quietTimes; quiet++) {
    await delay(everyMs);
    if ((await countMerges()) > 0) quiet = 0;
    check(performance.now() < deadlineMs, 'an engine without merges');
  }
}
