// The lag of a shard, by the age of its oldest message.

import { expect, it, vi } from 'vitest';
import type { JetStreamManager } from '../../platform/broker/nats.ts';
import { ShardLag } from './shard-lag.ts';

it('is that of the last answer, and grows while there is none', async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  const answers = [
    { messages: 1, first_ts: new Date(nowMs - 700).toISOString() },
    { messages: 0, first_ts: '0001-01-01T00:00:00Z' },
  ];
  let isAway = false;
  let asked = 0;
  const streams = {
    info: () => {
      asked++;
      const state = answers.at(0);
      return isAway ? Promise.reject(new Error('away')) : Promise.resolve({ state });
    },
  };
  vi.useFakeTimers();
  const manager = (): Promise<JetStreamManager> => Promise.resolve(Object.assign({ streams }));
  const lag = new ShardLag({ jetstreamManager: manager }, 'EVENTS_0', { nowMs: () => nowMs });
  expect(lag.ms()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(0);
  expect(lag.ms()).toBe(700);
  nowMs += 900;
  expect(lag.ms()).toBe(700);
  isAway = true;
  await vi.advanceTimersByTimeAsync(3_000);
  nowMs += 3_000;
  expect(lag.ms()).toBe(4_600);
  isAway = false;
  answers.shift();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lag.ms()).toBe(0);
  lag.close();
  const before = asked;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(asked).toBe(before);
  vi.useRealTimers();
});
