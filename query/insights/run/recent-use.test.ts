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

it('a project goes after those whose statements are shorter, at each step twice as short', () => {
  expect(use.priorityOf('a')).toBe(1);
  for (let n = 0; n < 100; n++) run('a', 900);
  expect(use.priorityOf('a')).toBe(1);
  run('b', 7_100);
  expect([use.priorityOf('a'), use.priorityOf('b')]).toEqual([1, 4]);
});

it('a statement counts while it runs', () => {
  const ended = use.begin('a');
  nowMs += 3_500;
  use.begin('a');
  expect(use.priorityOf('a')).toBe(3);
  ended();
  expect(use.priorityOf('a')).toBe(3);
});

it('a long statement is forgotten by halves', () => {
  run('a', 3_500);
  nowMs += 10_000;
  expect(use.priorityOf('a')).toBe(2);
  nowMs += 10_000;
  expect(use.priorityOf('a')).toBe(1);
});
