import { expect, it } from 'vitest';
import { EngineTime } from './engine-time.ts';

let nowMs = 0;
const newTime = () => new EngineTime(() => nowMs);
const at = (ms: number) => {
  nowMs = ms;
};

it('counts each moment at which a statement runs once, and those of the asked length only', () => {
  const time = newTime();
  at(100);
  const first = time.begin();
  at(150);
  const second = time.begin();
  at(200);
  first();
  at(250);
  expect(time.msOfLast(1_000)).toBe(150);
  second();
  at(400);
  expect(time.msOfLast(1_000)).toBe(150);
  expect(time.msOfLast(200)).toBe(50);
  time.begin();
  at(410);
  expect(time.msOfLast(200)).toBe(50);
});

it('has the time of reads whose rows it waits for, and of those that these wait for', () => {
  at(0);
  const [own, other, third] = [newTime(), newTime(), newTime()];
  own.share(other);
  other.share(third);
  third.share(own);
  const ends = [other.begin(), third.begin()];
  at(30);
  ends[0]?.();
  at(40);
  ends[1]?.();
  own.begin();
  at(45);
  expect([own, other, third].map((time) => time.msOfLast(100))).toEqual([45, 45, 45]);
});

it('has the time of a read no longer once that one has ended', () => {
  at(0);
  const [own, before] = [newTime(), newTime()];
  own.share(before);
  const end = before.begin();
  at(30);
  expect(own.msOfLast(100)).toBe(30);
  end();
  own.unshare(before);
  own.begin();
  at(40);
  expect(own.msOfLast(100)).toBe(10);
});
