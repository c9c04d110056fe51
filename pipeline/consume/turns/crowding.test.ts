import { expect, it } from 'vitest';
import { Crowding } from './crowding.ts';
import type { WaitingMessage } from './take-turns.ts';

const minuteMs = 60_000;

function held(projects: readonly number[], queuedBytes: number): WaitingMessage {
  const message = { seq: 1, data: new Uint8Array() };
  return { message, queuedBytes, bytes: queuedBytes, rows: 1, projects };
}

function crowdingOf(...seen: number[]): Crowding {
  const crowding = new Crowding(1_000);
  for (const project of seen) crowding.noteSeen([project], 0);
  return crowding;
}

it('names who has more than its share of a crowded queue, and nobody else', () => {
  const crowding = crowdingOf(1, 2, 3);
  expect(crowding.find([held([1], 300), held([2], 150)], 0, false)).toEqual([]);
  expect(crowding.find([held([1], 400), held([2], 150)], 0, false)).toEqual([1]);
  expect(crowding.find([held([1], 400), held([3], 400), held([2], 20)], 0, false)).toEqual([1, 3]);
});

it('names none of many that have a little each, and all that have more', () => {
  const crowding = crowdingOf(1, 2);
  const many = Array.from({ length: 60 }, (_, project) => held([project], 8));
  expect(crowding.find(many, 0, false)).toEqual([]);
  expect(crowding.find([...many, held([100], 300)], 0, false)).toEqual([100]);
  expect(crowding.find([...many, ...many], 0, false)).toHaveLength(60);
});

it('counts messages too where their number is bounded, because small ones may be much work', () => {
  const crowding = new Crowding(1_000_000, 100);
  crowding.noteSeen([1, 2], 0);
  const few = Array.from({ length: 40 }, () => held([1], 1));
  expect(crowding.find([...few, held([2], 1)], 0, false)).toEqual([]);
  expect(crowding.find([...few, ...few, held([2], 1)], 0, false)).toEqual([1]);
});

it('names nobody where a project has the shard to itself', () => {
  const alone = crowdingOf(1);
  expect(alone.find([held([1], 900)], 0, false)).toEqual([]);
  const other = crowdingOf(2, 1);
  expect(other.find([held([1], 900)], minuteMs, false)).toEqual([1]);
  expect(other.find([held([1], 900)], minuteMs + 1, false)).toEqual([]);
});

it('names who has the shard to itself where too much waits in the stream', () => {
  const alone = crowdingOf(1);
  expect(alone.find([held([1], 900)], 0, true)).toEqual([1]);
  expect(alone.find([held([1], 400)], 0, true)).toEqual([]);
});

it('shares the bytes of a message among its projects, and names none for one that does not say whose it is', () => {
  const crowding = crowdingOf(1, 2);
  expect(crowding.find([held([1, 2], 600)], 0, false)).toEqual([1, 2]);
  expect(crowding.find([held([], 900), held([1], 20)], 0, false)).toEqual([]);
});
