import { beforeEach, expect, it } from 'vitest';
import { RecentUse } from './recent-use.ts';

let nowMs: number;
let use: RecentUse;
beforeEach(() => {
  nowMs = 0;
  use = new RecentUse(() => nowMs);
});

function run(projectId: string, ms: number): void {
  const ended = use.begin(projectId);
  nowMs += ms;
  ended();
}

it('a project goes after those that used less, each time twice as much', () => {
  expect(use.priorityOf('a')).toBe(1);
  run('a', 99);
  expect(use.priorityOf('a')).toBe(1);
  run('a', 10);
  expect(use.priorityOf('a')).toBe(2);
  run('b', 1_600);
  expect([use.priorityOf('a'), use.priorityOf('b')]).toEqual([1, 5]);
});

it('a statement counts while it runs', () => {
  const ended = use.begin('a');
  use.begin('a');
  nowMs += 1_000;
  expect(use.priorityOf('a')).toBe(5);
  ended();
  expect(use.priorityOf('a')).toBe(5);
});

it('use is forgotten by halves', () => {
  run('a', 310);
  expect(use.priorityOf('a')).toBe(3);
  nowMs += 10_000;
  expect(use.priorityOf('a')).toBe(2);
  nowMs += 10_000;
  expect(use.priorityOf('a')).toBe(1);
});
