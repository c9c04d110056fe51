import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Endings } from './endings.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** An engine whose answers take `answerMs`. */
function slowControl(answerMs: number) {
  const seen = { kills: 0, atOnce: 0, mostAtOnce: 0 };
  const answer = async (): Promise<void> => {
    seen.atOnce++;
    seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.atOnce);
    await new Promise((resolve) => setTimeout(resolve, answerMs));
    seen.atOnce--;
  };
  const kill = (): Promise<void> => {
    seen.kills++;
    return answer();
  };
  return { seen, kill, probe: answer };
}

it('tells a statement to end one KILL at a time, with longer and longer pauses', async () => {
  const control = slowControl(10);
  const endings = new Endings(control);
  const settled = new AbortController();
  const ends = [0, 1, 2, 3, 4, 5].map((n) => endings.end(`reader-${n}`, settled.signal));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(control.seen.mostAtOnce).toBe(1);
  // A try every 50 ms would make 6,000.
  expect(control.seen.kills).toBeLessThan(6 * 20);
  settled.abort();
  await vi.advanceTimersByTimeAsync(20_000);
  await Promise.all(ends);
});

it('finds a statement stuck after a minute of tries, and well again once it has ended', async () => {
  const endings = new Endings(slowControl(1));
  const settled = new AbortController();
  const ended = endings.end('reader-0', settled.signal);
  const ask = async (): Promise<boolean> => {
    const answer = endings.answers();
    await vi.advanceTimersByTimeAsync(10);
    return answer;
  };
  await vi.advanceTimersByTimeAsync(45_000);
  expect(await ask()).toBe(true);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await ask()).toBe(false);
  settled.abort();
  await vi.advanceTimersByTimeAsync(10_000);
  await ended;
  expect(await ask()).toBe(true);
});

it('goes on after a KILL that fails', async () => {
  const control = slowControl(1);
  const endings = new Endings({
    probe: control.probe,
    async kill() {
      await control.kill();
      throw new Error('the engine is busy');
    },
  });
  const settled = new AbortController();
  const ended = endings.end('reader-0', settled.signal);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(control.seen.kills).toBeGreaterThan(1);
  settled.abort();
  await vi.advanceTimersByTimeAsync(10_000);
  await ended;
});

it('resolves when no KILL is on its way any more, and sends none for a statement that has ended meanwhile', async () => {
  const control = slowControl(100);
  const endings = new Endings(control);
  const first = new AbortController();
  const second = new AbortController();
  const resolved: string[] = [];
  void endings.end('reader-0', first.signal).then(() => resolved.push('first'));
  void endings.end('reader-1', second.signal).then(() => resolved.push('second'));
  await vi.advanceTimersByTimeAsync(50);
  first.abort();
  second.abort();
  await vi.advanceTimersByTimeAsync(40);
  expect(resolved).toEqual([]);
  await vi.advanceTimersByTimeAsync(20);
  expect(resolved).toEqual(['first', 'second']);
  expect(control.seen.kills).toBe(1);
});
