// When a process writes and when it waits, with writers whose ends the test decides; standby.test.ts has real ones.

import { expect, it } from 'vitest';
import { createLog } from '../../platform/log.ts';
import { StepwisePauses } from '../../test/harness/stepwise-pauses.ts';
import type { WriterEnd } from '../write/writer-state.ts';
import { restMs, type Term } from './lease.ts';
import { runTerms, type WriterSignals } from './terms.ts';

/** A writer that ends when it is told to, or once it has to. */
interface Writer {
  signals: WriterSignals;
  end(end: WriterEnd): void;
}

/** Two writers a term; each term is lost when the test says so. */
function start() {
  const stop = new AbortController();
  const pauses = new StepwisePauses();
  const heard: string[] = [];
  const terms: AbortController[] = [];
  const writers: Writer[] = [];
  const write = (signals: WriterSignals): Promise<WriterEnd> =>
    new Promise((resolve) => {
      writers.push({ signals, end: resolve });
      signals.stop.addEventListener('abort', () => resolve({ kind: 'stopped' }));
    });
  const lease = {
    async take(): Promise<Term> {
      const lost = new AbortController();
      heard.push('taken');
      terms.push(lost);
      return {
        lost: lost.signal,
        requireHeld: async () => {},
        end: async () => void heard.push('given up'),
      };
    },
  };
  const running = runTerms({
    lease,
    signals: { stop: stop.signal, abort: new AbortController().signal },
    run: (signals) => [write(signals), write(signals)],
    onStandby: () => heard.push('standby'),
    log: createLog('silent'),
    pause: (ms, signal) => pauses.pause(ms, signal),
  });
  return { stop, pauses, heard, terms, writers, running };
}

it('a writer that finds its shard taken ends all, and the process rests before it asks again', async () => {
  const { stop, pauses, heard, writers, running } = start();
  await expect.poll(() => writers.length).toBe(2);
  writers[0]?.end({ kind: 'fenced' });
  await pauses.paused();
  expect(writers[1]?.signals.abort.aborted).toBe(true);
  expect(heard).toEqual(['taken', 'given up', 'standby']);
  expect(pauses.asked).toEqual([restMs]);
  await pauses.end();
  await expect.poll(() => writers.length).toBe(4);
  expect(writers[3]?.signals.abort.aborted).toBe(false);
  stop.abort(new Error('stopped'));
  await running;
  expect(heard.slice(3)).toEqual(['taken', 'given up']);
});

it('a process whose shards another one has ends its writers, and asks at once', async () => {
  const { stop, pauses, heard, terms, writers, running } = start();
  await expect.poll(() => writers.length).toBe(2);
  terms[0]?.abort(new Error('lost'));
  await expect.poll(() => writers.length).toBe(4);
  expect(heard).toEqual(['taken', 'given up', 'standby', 'taken']);
  expect(pauses.asked).toEqual([]);
  stop.abort(new Error('stopped'));
  await running;
});

it('halted writers keep their shards, and are not run again', async () => {
  const { stop, heard, writers, running } = start();
  await expect.poll(() => writers.length).toBe(2);
  for (const { end } of writers) end({ kind: 'halted', reason: 'why' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard).toEqual(['taken']);
  stop.abort(new Error('stopped'));
  await running;
  expect(heard).toEqual(['taken', 'given up']);
  expect(writers).toHaveLength(2);
});
