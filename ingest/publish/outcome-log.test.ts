// The operator's lines about the broker's outcomes, on a clock that the test moves.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createOutcomeLog } from './outcome-log.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const stored = { outcome: { kind: 'stored', seq: 1, duplicate: false } } as const;
const gone = { outcome: { kind: 'unavailable', reason: 'no stream' } } as const;
const full = { outcome: { kind: 'full' } } as const;

function createNotice() {
  const lines: string[] = [];
  const write = (...args: unknown[]) => lines.push(JSON.stringify(args));
  return { lines, notice: createOutcomeLog({ warn: write, info: write }) };
}

it('says when frames are no longer stored and why, and when they are stored again', () => {
  const { lines, notice } = createNotice();
  for (const frame of [stored, stored, gone, gone, full, full, stored, stored]) {
    notice(frame);
    vi.advanceTimersByTime(1_000);
  }
  expect(lines).toEqual([
    '[{"reason":"no stream"},"events cannot be queued"]',
    '["the queue of events is full: requests are refused until the pipeline catches up"]',
    '["events are queued again"]',
  ]);
});

it('writes one line a second where the outcome changes with every frame', () => {
  const { lines, notice } = createNotice();
  for (let frame = 0; frame < 100; frame++) notice(frame % 2 === 0 ? full : stored);
  expect(lines).toHaveLength(1);
  vi.advanceTimersByTime(1_000);
  notice(stored);
  expect(lines).toHaveLength(2);
});
