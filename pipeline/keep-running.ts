// Runs one writer of a shard again after each failure, with longer waits while it gets nowhere. It does not run it
// again once another writer has the shard, nor after a halt.

import type { Log } from '../platform/log.ts';
import { sleep, waitAfter } from '../platform/retry.ts';
import type { WriterEnd, WriterState } from './write/writer-state.ts';

interface KeepRunningOptions {
  shard: number;
  /** Names the writer. */
  log: Log;
  stop: AbortSignal;
  onState(state: WriterState): void;
  /** As platform/retry.ts has it. */
  wait?: typeof sleep;
}

const restart = { baseMs: 500, capMs: 30_000 };

/** Never rejects; resolves with the end of the last run. */
export async function keepRunning(
  run: (onState: (state: WriterState) => void) => Promise<WriterEnd>,
  options: KeepRunningOptions,
): Promise<WriterEnd> {
  const { shard, log, stop, wait = sleep } = options;
  let failures = 0;
  let last: WriterState = 'loading';
  const onState = (state: WriterState): void => {
    // The writer has stored a batch: its next failure is another one.
    if (last === 'finishing' && state === 'waiting') failures = 0;
    last = state;
    options.onState(state);
  };
  while (!stop.aborted) {
    try {
      const end = await run(onState);
      if (end.kind === 'stopped') break;
      onState(end.kind);
      // Another process has the shard, as a rule, and this one waits (lease/terms.ts).
      if (end.kind === 'fenced') log.warn({ shard, ...end }, 'the writer has ended');
      else log.error({ shard, ...end }, 'the writer has ended: restart it once the cause is known');
      return end;
    } catch (error) {
      if (stop.aborted) break;
      failures++;
      onState('failed');
      log.error({ shard, failures, err: error }, 'the writer failed and starts again');
    }
    await wait(waitAfter(failures, restart, Math.random()), stop).catch(() => {});
  }
  log.info({ shard, kind: 'stopped' }, 'the writer has ended');
  onState('stopped');
  return { kind: 'stopped' };
}
