import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { atBeat, everyBeat, pullMs } from './beat.ts';

beforeEach(() => void vi.useFakeTimers({ now: 10_000 }));
afterEach(() => void vi.useRealTimers());

it('wakes all of a beat in one turn, and not whoever called off', () => {
  const woken: string[] = [];
  atBeat(1_000, () => woken.push('first'));
  vi.advanceTimersByTime(300);
  const callOff = atBeat(1_000, () => woken.push('called off'));
  atBeat(1_000, () => woken.push('second'));
  callOff();
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersToNextTimer();
  expect(woken).toEqual(['first', 'second']);
});

it('needs no timer once everybody has called off', () => {
  const calls = [atBeat(1_000, () => {}), atBeat(1_000, () => {})];
  for (const callOff of calls) callOff();
  expect(vi.getTimerCount()).toBe(0);
});

it('wakes again and again, until it is stopped while it runs', () => {
  let runs = 0;
  const stop = everyBeat(250, () => {
    if (++runs === 3) stop();
  });
  vi.advanceTimersByTime(10_000);
  expect(runs).toBe(3);
  expect(vi.getTimerCount()).toBe(0);
});

it('ends pulls together, none at once', () => {
  for (let step = 0; step < 40; step++) {
    expect(pullMs()).toBeGreaterThanOrEqual(250);
    expect(pullMs()).toBeLessThanOrEqual(1_250);
    expect(Math.abs(((performance.now() + pullMs() + 500) % 1_000) - 500)).toBeLessThanOrEqual(1);
    vi.advanceTimersByTime(37);
  }
});
