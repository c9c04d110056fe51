// Has this process write the shards whenever it has them (lease.ts), and wait while another process has them. A writer
// that finds its shard taken ends the whole term: all shards of a process go together.

import type { Log } from '../../platform/log.ts';
import { sleep } from '../../platform/retry.ts';
import type { WriterEnd } from '../write/writer-state.ts';
import { type Lease, restMs, type Term } from './lease.ts';

export interface WriterSignals {
  /** Ends the source; what it has received is still written. */
  stop: AbortSignal;
  /** Ends every wait; the pending batch stays pending. */
  abort: AbortSignal;
}

export interface TermsOptions {
  lease: Lease;
  signals: WriterSignals;
  /** Runs one writer of each shard, of events and of profiles; they never reject. */
  run(signals: WriterSignals): readonly Promise<WriterEnd>[];
  /** Called again and again while another process has the shards, and before it is known who has them. */
  onStandby(): void;
  log: Log;
  /** As platform/retry.ts has it. */
  pause?: typeof sleep;
}

/** Resolves once stopped. */
export async function runTerms(options: TermsOptions): Promise<void> {
  const { lease, onStandby, log, pause = sleep } = options;
  const { stop } = options.signals;
  while (!stop.aborted) {
    const term = await lease.take({ stop, onWait: onStandby }).catch(() => undefined);
    // It rejects once stopped only.
    if (term === undefined) return;
    const isFenced = await runTerm(options, term);
    await term.end();
    if (stop.aborted) return;
    onStandby();
    log.warn('this process has lost the shards to another one');
    if (isFenced) await pause(restMs, stop).catch(() => {});
  }
}

/** Resolves once every writer has ended and the shards are not this process's any more; true where one was fenced. */
async function runTerm({ signals, run }: TermsOptions, { lost }: Term): Promise<boolean> {
  const fenced = new AbortController();
  const over = AbortSignal.any([lost, fenced.signal]);
  const writers = run({
    stop: AbortSignal.any([signals.stop, over]),
    abort: AbortSignal.any([signals.abort, over]),
  });
  const ended = writers.map(async (writer) => {
    const { kind } = await writer;
    if (kind === 'fenced') fenced.abort(new Error('another writer has a shard'));
  });
  await Promise.all(ended);
  // Halted writers wait for an operator, and no other process may repeat what halted them.
  if (!over.aborted) await aborted(AbortSignal.any([signals.stop, over]));
  return fenced.signal.aborted;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
