import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import { timeLimit, withTimeLimit } from './time-limit.ts';

const never = new AbortController().signal;

it.each([
  ['of its own', () => withTimeLimit(never, 100)],
  ['that is joined elsewhere', () => AbortSignal.any([never, timeLimit(100)])],
])('a limit %s passes although garbage is collected meanwhile', async (_, limited) => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const ended: unknown[] = [];
  const listen = (signal: AbortSignal): void => {
    signal.addEventListener('abort', () => ended.push(signal.reason.name));
  };
  listen(limited());
  await vi.waitUntil(
    () => {
      collect();
      return ended.length > 0;
    },
    { timeout: 300_000, interval: 20 },
  );
  expect(ended).toEqual(['TimeoutError']);
});

it('ends with the other signal, for its reason', () => {
  const other = new AbortController();
  const signal = withTimeLimit(other.signal, 60_000);
  other.abort('left');
  expect([signal.aborted, signal.reason]).toEqual([true, 'left']);
});
