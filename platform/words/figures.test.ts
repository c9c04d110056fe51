import { expect, it } from 'vitest';
import {
  change,
  changeInPoints,
  isGoodNews,
  isUnchanged,
  milliseconds,
  percent,
} from './figures.ts';

it.each([
  [0, '0 s'],
  [999, '999 ms'],
  [9_949, '9.9 s'],
  [9_960, '10 s'],
  [59_700, '1 min 0 s'],
  [119_600, '2 min 0 s'],
  [18_180_000, '5 h 3 min'],
])('writes %d ms as people read it', (ms, text) => {
  expect(milliseconds(ms)).toBe(text);
});

it.each([
  [0, '0%'],
  [0.004, '0.4%'],
  [0.0994, '9.9%'],
  [0.253, '25%'],
])('writes a share of %d', (share, text) => {
  expect(percent(share)).toBe(text);
});

it.each([
  [112, 100, '+12%'],
  [9_990, 10_000, '−0.1%'],
  [9_996, 10_000, '0.0%'],
  [10_004, 10_000, '0.0%'],
  [7, 7, '0.0%'],
  [7, 0, undefined],
  [-50, -100, '+50%'],
  [-150, -100, '−50%'],
])('writes the change to %d from %d', (now, before, text) => {
  expect(change(now, before)).toBe(text);
});

it.each([
  [9_996, 10_000, true],
  [9_990, 10_000, false],
  [0, 0, true],
  [1, 0, false],
])('takes %d after %d for unchanged where the change rounds to zero', (now, before, is) => {
  expect(isUnchanged(now, before)).toBe(is);
});

it.each([
  [0.5, 0.488, '+1.2 pp'],
  [0.488, 0.5, '−1.2 pp'],
  [0.4998, 0.5, '0.0 pp'],
])('writes the points to %d from %d', (now, before, text) => {
  expect(changeInPoints(now, before)).toBe(text);
});

it.each([
  [2, 1, true, true],
  [2, 1, false, false],
  [-50, -100, true, true],
  [10_004, 10_000, true, undefined],
  [2, 1, undefined, undefined],
])('says of %d after %d, where more being better is %s: %s', (now, before, isMoreBetter, is) => {
  expect(isGoodNews(now, before, isMoreBetter)).toBe(is);
});
