// The restarts of a writer whose runs the test decides; start.test.ts has real ones.

import { expect, it } from 'vitest';
import { createLog } from '../platform/log.ts';
import { keepRunning } from './keep-running.ts';
import { isWriting, type WriterEnd, type WriterState } from './write/writer-state.ts';

type Run = readonly WriterState[];
const fruitless: Run = ['loading', 'waiting', 'promising'];
const fruitful: Run = ['loading', 'waiting', 'promising', 'inserting', 'finishing', 'waiting'];

/** Has each run go through its states and fail; the last one ends as told. Returns the waits and the states in them. */
async function runAll(runs: readonly Run[], end: WriterEnd) {
  const waits: { ms: number; state: WriterState }[] = [];
  const left = [...runs];
  let state: WriterState = 'loading';
  const run = async (onState: (next: WriterState) => void): Promise<WriterEnd> => {
    const states = left.shift();
    if (states === undefined) return end;
    for (const next of states) onState(next);
    throw new Error('this run fails');
  };
  await keepRunning(run, {
    shard: 0,
    log: createLog('silent'),
    stop: new AbortController().signal,
    onState: (next) => {
      state = next;
    },
    wait: async (ms) => void waits.push({ ms, state }),
  });
  return { waits, state };
}

it('is not writing while it waits to start again', async () => {
  const { waits, state } = await runAll([fruitful, fruitless], { kind: 'stopped' });
  expect(waits.map((wait) => wait.state)).toEqual(['failed', 'failed']);
  expect(isWriting('failed')).toBe(false);
  expect(state).toBe('stopped');
});

it('waits longer after each run that stores nothing, and no longer after one that does', async () => {
  const runs = [fruitless, fruitless, fruitless, fruitless, fruitful, fruitless, fruitful];
  const { waits } = await runAll(runs, { kind: 'stopped' });
  // A wait is drawn from the upper half of its step.
  const steps = waits.map(({ ms }) => [500, 1_000, 2_000, 4_000].find((step) => ms <= step));
  expect(steps).toEqual([500, 1_000, 2_000, 4_000, 500, 1_000, 500]);
});

it('does not run a writer again that has lost its shard or is halted', async () => {
  for (const end of [{ kind: 'fenced' }, { kind: 'halted', reason: 'why' }] as const) {
    const { waits } = await runAll([fruitless], end);
    expect(waits).toHaveLength(1);
  }
});
