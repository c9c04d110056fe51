import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readWhileHeard } from './silence.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Brings a frame at each of these times, then nothing more: it stays open until it is ended. */
async function* stream(waitsMs: readonly number[], end: AbortSignal): AsyncGenerator<number> {
  for (const waitMs of waitsMs) {
    await new Promise((done) => setTimeout(done, waitMs));
    yield waitMs;
  }
  await new Promise((_, fail) => end.addEventListener('abort', () => fail(new Error('ended'))));
}

it('ends a stream that falls silent, and none that goes on', async () => {
  const heard: number[] = [];
  const read = readWhileHeard(
    (end) => stream([4_000, 4_500, 1_000], end),
    new AbortController().signal,
    5_000,
    (one) => heard.push(one),
  );
  const ended = expect(read).rejects.toThrow('ended');
  await vi.advanceTimersByTimeAsync(14_400);
  expect(heard).toEqual([4_000, 4_500, 1_000]);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(200);
  await ended;
  expect(vi.getTimerCount()).toBe(0);
});

it('ends a stream that nobody wants any more', async () => {
  const end = new AbortController();
  const read = readWhileHeard(
    (one) => stream([], one),
    end.signal,
    5_000,
    () => {},
  );
  end.abort();
  await expect(read).rejects.toThrow('ended');
  expect(vi.getTimerCount()).toBe(0);
});
