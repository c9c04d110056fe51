import { expect, it } from 'vitest';
import { Refusals } from './refusals.ts';

const minuteMs = 60_000;
let nowMs = 0;

/** Minutes until it may be tried again. */
function waits(refusals: Refusals): number {
  const sinceMs = nowMs;
  while (refusals.mustWait('a name')) nowMs += 1_000;
  return (nowMs - sinceMs) / minuteMs;
}

it('wait twice as long after each failure, an hour at most, and a minute after a success', () => {
  const refusals = new Refusals({ nowMs: () => nowMs });
  expect(waits(refusals)).toBe(0);
  const waited = Array.from({ length: 8 }, () => {
    refusals.failed('a name');
    refusals.failed('another name');
    return waits(refusals);
  });
  expect(waited).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  refusals.succeeded('a name');
  refusals.failed('a name');
  expect(waits(refusals)).toBe(1);
});
