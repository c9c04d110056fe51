import { expect, it } from 'vitest';
import { type BreakerOutcome, Breakers } from './breaker.ts';

function breakers() {
  let nowMs = 1_000_000;
  const made = new Breakers({ nowMs: () => nowMs });
  const record = (...outcomes: BreakerOutcome[]): boolean[] =>
    outcomes.map((outcome) => made.record('w', outcome));
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { made, record, pass };
}

const repeat = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

it('opens after ten attempts of which seven failed', () => {
  const { made, record } = breakers();
  // What went well before the first failure does not count.
  record(
    'succeeded',
    'failed',
    ...repeat(3, 'succeeded' as const),
    ...repeat(5, 'failed' as const),
  );
  expect(made.state('w')).toBe('closed');
  expect(record('failed')).toEqual([true]);
  expect([made.state('w'), made.state('other'), made.openCount()]).toEqual(['open', 'closed', 1]);
});

it('stays closed while more succeed', () => {
  const { record } = breakers();
  // A success would close it again: so no single failure may open it.
  for (let turn = 0; turn < 30; turn++) {
    expect(record('failed', 'succeeded')).toEqual([false, false]);
  }
});

it('opens after five timeouts in a row, not with a success between them', () => {
  const { made, record } = breakers();
  record(...repeat(2, 'timed_out' as const), 'succeeded', ...repeat(4, 'timed_out' as const));
  expect(made.state('w')).toBe('closed');
  // Fewer attempts than the share of failures is judged by.
  expect(record('timed_out')).toEqual([true]);
});

it('forgets failures of more than five minutes ago', () => {
  const { made, record, pass } = breakers();
  record(...repeat(9, 'failed' as const));
  pass(300_001);
  record(...repeat(9, 'failed' as const));
  expect(made.state('w')).toBe('closed');
});

it('lets one delivery through after 30 s, and closes where that succeeds', () => {
  const { made, record, pass } = breakers();
  record(...repeat(10, 'failed' as const));
  pass(29_999);
  expect(made.admit('w')).toBe(false);
  pass(1);
  expect([made.admit('w'), made.admit('w'), made.state('w')]).toEqual([true, false, 'open']);
  record('succeeded');
  expect([made.state('w'), made.admit('w'), made.openCount()]).toEqual(['closed', true, 0]);
});

it('waits twice as long after each probe that fails, at most 15 minutes', () => {
  const { made, record, pass } = breakers();
  record(...repeat(10, 'failed' as const));
  for (const waitMs of [30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000]) {
    pass(waitMs - 1);
    expect(made.admit('w')).toBe(false);
    pass(1);
    expect(made.admit('w')).toBe(true);
    record('failed');
  }
});

it('is not moved by attempts that began before it opened', () => {
  const { made, record, pass } = breakers();
  record(...repeat(18, 'failed' as const));
  pass(30_000);
  expect(made.admit('w')).toBe(true);
});

it('lets another probe through where one never told its outcome', () => {
  const { made, record, pass } = breakers();
  record(...repeat(10, 'failed' as const));
  pass(30_000);
  expect(made.admit('w')).toBe(true);
  pass(60_000);
  expect(made.admit('w')).toBe(true);
});
