import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import { withTimeLimit } from './time-limit.ts';

it('passes although garbage is collected meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const ended: unknown[] = [];
  const listen = (signal: AbortSignal): void => {
    signal.addEventListener('abort', () => ended.push(signal.reason.name));
  };
  listen(withTimeLimit(new AbortController().signal, 100));
  await vi.waitUntil(
    () => {
      collect();
      return ended.length > 0;
    },
    { timeout: 10_000, interval: 20 },
  );
  expect(ended).toEqual(['TimeoutError']);
});

it('ends with the other signal, for its reason', () => {
  const other = new AbortController();
  const signal = withTimeLimit(other.signal, 60_000);
  other.abort('left');
  expect([signal.aborted, signal.reason]).toEqual([true, 'left']);
});
