import { beforeEach, expect, it } from 'vitest';
import { RecentUse } from './recent-use.ts';

let nowMs: number;
let use: RecentUse;
beforeEach(() => {
  nowMs = 0;
  use = new RecentUse(() => nowMs);
});

function run(owner: string, ms: number): void {
  const ended = use.begin(owner);
  nowMs += ms;
  ended();
}

it('an owner goes after those whose statements are shorter, at each step twice as short', () => {
  expect(use.priorityOf('a')).toBe(1);
  for (let n = 0; n < 100; n++) run('a', 90);
  expect(use.priorityOf('a')).toBe(1);
  run('b', 710);
  expect([use.priorityOf('a'), use.priorityOf('b')]).toEqual([1, 4]);
});

it('a statement counts while it runs', () => {
  const ended = use.begin('a');
  nowMs += 350;
  use.begin('a');
  expect(use.priorityOf('a')).toBe(3);
  ended();
  expect(use.priorityOf('a')).toBe(3);
});

it('a long statement is forgotten by halves', () => {
  run('a', 350);
  nowMs += 10_000;
  expect(use.priorityOf('a')).toBe(2);
  nowMs += 10_000;
  expect(use.priorityOf('a')).toBe(1);
});

it('long statements are heavy beside those of others, and not alone', () => {
  run('long', 600);
  expect(use.isHeavyBesideOthers('long')).toBe(false);
  run('short', 10);
  expect([use.isHeavyBesideOthers('long'), use.isHeavyBesideOthers('short')]).toEqual([
    true,
    false,
  ]);
  run('long', 600);
  run('long', 600);
  expect(use.isHeavyBesideOthers('long')).toBe(true);
  nowMs += 10_000;
  run('long', 600);
  expect(use.isHeavyBesideOthers('long')).toBe(false);
});
