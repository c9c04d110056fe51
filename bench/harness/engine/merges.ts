// Waits until an engine has merged all that it is going to merge: the merges belong to the measurement before, not to
// the next one.

import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { check } from '../../bench.ts';
import { queryNumber } from '../load/stored-rows.ts';

const everyMs = 100;
/** A pause between two merges is shorter than this. */
const quietTimes = 10;
const usualTimeoutMs = 300_000;

/** Resolves once there was no merge for a second; throws after `timeoutMs`, which is five minutes unless given. */
export async function untilMerged(
  engine: Pick<Stack, 'clickhouseUrl'>,
  timeoutMs = usualTimeoutMs,
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  for (let quiet = 0; quiet < quietTimes; ) {
    await delay(everyMs);
    const merges = await queryNumber(engine, 'SELECT count() FROM system.merges');
    quiet = merges > 0 ? 0 : quiet + 1;
    check(performance.now() < deadlineMs, 'an engine without merges');
  }
}
