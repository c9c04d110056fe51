// Who waits for a turn at the log, who makes place for others, and who is refused, by a clock that this test sets.

import { setMaxListeners } from 'node:events';
import { Code } from '@connectrpc/connect';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ReadTurns } from './read-turns.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Both turns are taken. `ends` says in order how each waiting read ended. */
async function takenTurns() {
  const turns = new ReadTurns();
  const ends: string[] = [];
  const wait = (organizationId: string, gone?: AbortSignal): void => {
    turns.take(organizationId, gone).then(
      () => ends.push(organizationId),
      ({ code }: { code: Code }) => ends.push(`${organizationId} ${Code[code]}`),
    );
  };
  await Promise.all([turns.take('first'), turns.take('second')]);
  return { turns, ends, wait };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

function times(count: number, run: (number: number) => void): void {
  for (let number = 0; number < count; number++) run(number);
}

it('the longest queue makes place for an organization that has fewer waiting', async () => {
  const { turns, ends, wait } = await takenTurns();
  times(256, (number) => wait(`greedy${number % 16}`));
  wait('modest');
  wait('modest');
  await settle();
  expect(ends).toEqual(['greedy15 ResourceExhausted', 'greedy14 ResourceExhausted']);
  wait('greedy0');
  await settle();
  expect(ends.splice(0)).toContain('greedy0 ResourceExhausted');
  const order = ['first', ...Array.from({ length: 16 }, (_, n) => `greedy${n}`)];
  for (const owner of order) turns.give(owner);
  await settle();
  expect(ends).toEqual([...Array.from({ length: 16 }, (_, n) => `greedy${n}`), 'modest']);
});

it('one owner has one turn of both, whatever it waits for', async () => {
  const turns = new ReadTurns();
  const begun: string[] = [];
  const take = (owner: string): void => {
    void turns.take(owner).then(() => begun.push(owner));
  };
  for (const owner of ['greedy', 'greedy', 'greedy', 'modest']) take(owner);
  await settle();
  expect(begun.splice(0)).toEqual(['greedy', 'modest']);
  turns.give('modest');
  await settle();
  expect(begun).toEqual([]);
  turns.give('greedy');
  await settle();
  expect(begun).toEqual(['greedy']);
});

it('nobody makes place for an organization that would have as many', async () => {
  const { ends, wait } = await takenTurns();
  times(256, (number) => wait(`org${number}`));
  wait('late');
  await settle();
  expect(ends).toEqual(['late ResourceExhausted']);
});

it('a read that waits for ten seconds is refused, and its place is free', async () => {
  const { turns, ends, wait } = await takenTurns();
  wait('patient');
  await vi.advanceTimersByTimeAsync(9_999);
  wait('later');
  expect(ends).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ends).toEqual(['patient ResourceExhausted']);
  turns.give('first');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ends).toEqual(['patient ResourceExhausted', 'later']);
});

it('a read that nobody waits for any more gives its place up', async () => {
  const { turns, ends, wait } = await takenTurns();
  const leaving = new AbortController();
  setMaxListeners(0, leaving.signal);
  times(16, () => wait('org', leaving.signal));
  wait('org');
  leaving.abort();
  wait('org', leaving.signal);
  wait('org');
  await settle();
  expect(ends.splice(0)).toEqual([
    'org ResourceExhausted',
    ...Array.from({ length: 17 }, () => 'org Canceled'),
  ]);
  turns.give('first');
  await settle();
  expect(ends).toEqual(['org']);
  // Both turns and the queue are as they would be without those that left.
  for (const owner of ['org', 'second']) turns.give(owner);
  await Promise.all([turns.take('a'), turns.take('b')]);
});
