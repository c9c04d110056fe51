import pino from 'pino';
import { expect, it } from 'vitest';
import { superviseChild } from './child.ts';

it('ends a silent child, and the next silent one no sooner than the rest allows', async () => {
  const endedAtMs: number[] = [];
  const write = (line: string): void => {
    const { msg } = JSON.parse(line);
    if (msg === 'a child does not answer any more, ending it') endedAtMs.push(performance.now());
  };
  const restMs = 1_000;
  const child = await superviseChild({
    name: 'a silent child',
    command: '/bin/sh',
    args: ['-c', 'echo ready; exec cat'],
    watchesInput: true,
    readLine: (text) => ({ text, isReady: text === 'ready' }),
    readyTimeoutMs: 10_000,
    pings: { ping: async () => false, everyMs: 10, timeoutMs: 1_000, maxMissed: 1, restMs },
    log: pino({ level: 'error' }, { write }),
  });
  const first = child.pid();
  await expect.poll(() => endedAtMs.length).toBe(2);
  const [before = 0, after = 0] = endedAtMs;
  expect(after - before).toBeGreaterThan(restMs);
  await expect.poll(() => child.pid()).not.toBe(first);
  await child.stop(10_000);
});
