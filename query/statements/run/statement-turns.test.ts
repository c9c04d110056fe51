// Who runs, who waits and who is refused, without an engine: time passes when the test says so.

import { expect, it } from 'vitest';
import type { Timer } from '../../timer.ts';
import { StatementTurns } from './statement-turns.ts';

const bounds = {
  ...{ running: 3, runningOfProject: 2, runningOfKey: 1, waiting: 4, waitingOfProject: 2 },
  waitMs: 1_000,
};
const never = new AbortController().signal;

function turnsWith(): { turns: StatementTurns; pass: () => void } {
  const due = new Set<() => void>();
  const timer: Timer = (_, work) => {
    due.add(work);
    return () => due.delete(work);
  };
  const pass = (): void => {
    for (const work of [...due]) work();
  };
  return { turns: new StatementTurns(bounds, timer), pass };
}

/** What has happened to a wait once all that can go on has gone on. */
async function stateOf(wait: Promise<unknown>): Promise<string> {
  const settled = wait.then(
    () => 'runs',
    (error: unknown) => (error instanceof Error ? error.message : 'failed'),
  );
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.race([settled, Promise.resolve('waits')]);
}

const asker = (projectId: string, keyId: string) => ({ projectId, keyId });

it('one runs of a key, two of a project, and the next begins where one ends', async () => {
  const { turns } = turnsWith();
  const first = await turns.take(asker('p', 'a'), never);
  const ofSameKey = turns.take(asker('p', 'a'), never);
  expect(await stateOf(ofSameKey)).toBe('waits');
  const second = await turns.take(asker('p', 'b'), never);
  const third = turns.take(asker('p', 'c'), never);
  expect(await stateOf(third)).toBe('waits');
  const other = await turns.take(asker('q', 'd'), never);
  second();
  expect([await stateOf(ofSameKey), await stateOf(third)]).toEqual(['waits', 'runs']);
  first();
  first();
  expect(await stateOf(ofSameKey)).toBe('runs');
  other();
});

it('of all projects no more run than there are places', async () => {
  const { turns } = turnsWith();
  const given = await Promise.all(['p', 'q', 'r'].map((id) => turns.take(asker(id, id), never)));
  const fourth = turns.take(asker('s', 's'), never);
  expect(await stateOf(fourth)).toBe('waits');
  given[1]?.();
  expect(await stateOf(fourth)).toBe('runs');
});

it('a wait ends after its time, with its caller, and where too many wait', async () => {
  const { turns, pass } = turnsWith();
  await turns.take(asker('p', 'a'), never);
  const tooLong = turns.take(asker('p', 'a'), never);
  const gone = new AbortController();
  const left = turns.take(asker('p', 'a'), gone.signal);
  const crowded = turns.take(asker('p', 'a'), never);
  expect(await stateOf(crowded)).toContain('too many statements');
  gone.abort(new Error('gone'));
  expect(await stateOf(left)).toBe('gone');
  pass();
  expect(await stateOf(tooLong)).toContain('too many statements');
});
