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
  let settled = false;
  const ends = [0, 1, 2, 3, 4, 5].map((n) => endings.end(`reader-${n}`, () => settled));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(control.seen.mostAtOnce).toBe(1);
  // A try every 50 ms would make 6,000.
  expect(control.seen.kills).toBeLessThan(6 * 20);
  settled = true;
  await vi.advanceTimersByTimeAsync(20_000);
  await Promise.all(ends);
});

it('finds a statement stuck after a minute of tries, and well again once it has ended', async () => {
  const endings = new Endings(slowControl(1));
  let settled = false;
  const ended = endings.end('reader-0', () => settled);
  const ask = async (): Promise<boolean> => {
    const answer = endings.answers();
    await vi.advanceTimersByTimeAsync(10);
    return answer;
  };
  await vi.advanceTimersByTimeAsync(45_000);
  expect(await ask()).toBe(true);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await ask()).toBe(false);
  settled = true;
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
  let settled = false;
  const ended = endings.end('reader-0', () => settled);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(control.seen.kills).toBeGreaterThan(1);
  settled = true;
  await vi.advanceTimersByTimeAsync(10_000);
  await ended;
});
