// When a busy service is asked again, and when it is left to the reader.

import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { askedAgainSeconds, Retries } from './retries.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const busy = (seconds: string) =>
  new ConnectError('busy', Code.ResourceExhausted, { 'retry-after': seconds });

const shownSeconds = (failure: unknown) => askedAgainSeconds(ConnectError.from(failure));

it('asks three times by itself, after the seconds it was told, and says when; then the reader asks', () => {
  const retries = new Retries();
  const ask = vi.fn();
  for (const round of [1, 2, 3]) {
    expect(shownSeconds(retries.planAfter(busy('5'), ask))).toBe(5);
    vi.advanceTimersByTime(4_999);
    expect(ask).toHaveBeenCalledTimes(round - 1);
    vi.advanceTimersByTime(1);
    expect(ask).toHaveBeenCalledTimes(round);
  }
  expect(shownSeconds(retries.planAfter(busy('5'), ask))).toBeUndefined();
  vi.runAllTimers();
  expect(ask).toHaveBeenCalledTimes(3);
  retries.renew();
  expect(retries.plan(5, ask)).toBe(5);
});

it('leaves a long wait and every other failure to the reader', () => {
  const retries = new Retries();
  const ask = vi.fn();
  expect(retries.plan(61, ask)).toBeUndefined();
  // Longer than a timer can wait, which would end at once.
  expect(retries.plan(2 ** 31, ask)).toBeUndefined();
  const large = new ConnectError('too large', Code.ResourceExhausted);
  expect(retries.planAfter(large, ask)).toBe(large);
  retries.plan(1, ask);
  retries.cancel();
  vi.runAllTimers();
  expect(ask).not.toHaveBeenCalled();
});
