import { expect, it } from 'vitest';
import { milliseconds, percent } from './figures.ts';

it.each([
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
