import { describe, expect, it } from 'vitest';
import { maxAttempts, planRetry, readRetryAfter } from './retry-plan.ts';

const endTimeMs = 1_000_000;
const minuteMs = 60_000;
const inMs = (attempt: number, retryAfterMs?: number, draw = 0): number | undefined => {
  const planned = planRetry({ attempt, endTimeMs, retryAfterMs, draw });
  return planned && planned.dueTimeMs - endTimeMs;
};

describe('a retry', () => {
  it('comes after the five delays, and there is no sixth', () => {
    const waits = Array.from({ length: maxAttempts }, (_, index) => inMs(index + 1));
    const minutes = waits.map((waitMs) => waitMs && waitMs / minuteMs);
    expect(minutes).toEqual([1, 5, 30, 120, 1_440, undefined]);
  });

  it('has jitter that only adds: a tenth, 60 s at most, 5 s at first', () => {
    const jitters = [1, 2, 3, 4, 5].map((attempt) => {
      return Number(inMs(attempt, undefined, 0.999_999)) - Number(inMs(attempt));
    });
    expect(jitters.map((ms) => Math.ceil(ms / 1_000))).toEqual([5, 30, 60, 60, 60]);
  });

  it.each([
    [1, 30, 1],
    [1, 60, 1],
    [1, 61, 5],
    [1, 301, 30],
    [3, 60, 30],
    [1, 7_201, 1_440],
    [1, 10 ** 9, 1_440],
    [5, 10 ** 9, 1_440],
  ])('number %i of which the receiver asks for %i s comes after %i min', (attempt, s, minutes) => {
    expect(inMs(attempt, s * 1_000)).toBe(minutes * minuteMs);
  });
});

describe('Retry-After', () => {
  const nowMs = Date.parse('Fri, 31 Dec 1999 23:59:00 GMT');

  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Fri, 31 Dec 1999 23:59:59 GMT', 59_000],
    ['Friday, 31-Dec-99 23:59:59 GMT', 59_000],
    ['Fri, 31 Dec 1999 20:00:00 GMT', 0],
  ])('%s is read', (text, ms) => {
    expect(readRetryAfter(text, nowMs)).toBe(ms);
  });

  it.each([undefined, '', '-5', '1.5', '1e9', '12345678901', 'soon', 'Fri, x'])(
    '%s is passed over',
    (text) => {
      expect(readRetryAfter(text, nowMs)).toBeUndefined();
    },
  );
});
