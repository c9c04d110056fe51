import { expect, it } from 'vitest';
import { AskTimes } from './ask-times.ts';

function openTimes() {
  let nowMs = 0;
  const times = new AskTimes(() => nowMs);
  return {
    times,
    pass: (ms: number) => {
      nowMs += ms;
    },
    /** Asks, and has the answer after so long. */
    ask: (tookMs: number, isAnswered = true) => {
      times.begin();
      nowMs += tookMs;
      times.end(isAnswered);
    },
  };
}

it('asks at once, and soon after something was stored', () => {
  const { times, pass, ask } = openTimes();
  expect(times.isDue(false)).toBe(true);
  ask(20);
  pass(1_000);
  expect(times.isDue(true)).toBe(false);
  pass(1_000);
  expect(times.isDue(false)).toBe(true);
});

it('asks seldom where nothing was stored, and where an answer is dear', () => {
  const { times, pass, ask } = openTimes();
  ask(20);
  pass(9_000);
  expect(times.isDue(false)).toBe(false);
  pass(1_000);
  expect(times.isDue(false)).toBe(true);
  ask(700);
  pass(6_000);
  expect(times.isDue(true)).toBe(false);
  pass(300);
  expect(times.isDue(false)).toBe(true);
});

it('asks once at a time, and again after a failure', () => {
  const { times, pass, ask } = openTimes();
  ask(20, false);
  pass(2_000);
  expect(times.isDue(false)).toBe(true);
  times.begin();
  pass(60_000);
  expect(times.isDue(true)).toBe(false);
});
