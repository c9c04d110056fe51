import { describe, expect, it } from 'vitest';
import { retry, sleep, waitAfter } from './retry.ts';

const quick = { baseMs: 1, capMs: 2 };

describe('retry', () => {
  it('returns the first success, and reports each failure before it', async () => {
    const told: number[] = [];
    const result = await retry(
      async (attempt) => {
        if (attempt < 3) throw new Error(`try ${attempt}`);
        return attempt;
      },
      {
        ...quick,
        signal: new AbortController().signal,
        onFailure: ({ attempt }) => told.push(attempt),
      },
    );
    expect(result).toBe(3);
    expect(told).toEqual([1, 2]);
  });

  it('gives up with the error that onFailure throws', async () => {
    const fatal = new Error('wrong password');
    let tries = 0;
    const running = retry(
      () => {
        tries++;
        return Promise.reject(fatal);
      },
      {
        ...quick,
        signal: new AbortController().signal,
        onFailure: ({ error }) => {
          throw error;
        },
      },
    );
    await expect(running).rejects.toBe(fatal);
    expect(tries).toBe(1);
  });

  it('ends during a wait when aborted, with the reason given', async () => {
    const controller = new AbortController();
    const reason = new Error('closing');
    const running = retry(() => Promise.reject(new Error('down')), {
      signal: controller.signal,
      baseMs: 3_600_000,
      capMs: 3_600_000,
      onFailure: () => setImmediate(() => controller.abort(reason)),
    });
    await expect(running).rejects.toBe(reason);
  });

  it('does not start after an abort', async () => {
    let tries = 0;
    const signal = AbortSignal.abort(new Error('closed'));
    const work = async () => tries++;
    await expect(retry(work, { ...quick, signal })).rejects.toThrow('closed');
    expect(tries).toBe(0);
  });
});

describe('waits', () => {
  it('double from the base to the cap, in the upper half of the step', () => {
    const bounds = { baseMs: 100, capMs: 1_000 };
    const longest = [1, 2, 3, 4, 5, 5_000].map((attempt) => waitAfter(attempt, bounds, 1));
    expect(longest).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    expect(waitAfter(1, bounds, 0)).toBe(50);
    expect(waitAfter(9, bounds, 0.5)).toBe(750);
  });

  it('end at once when aborted, with the reason given', async () => {
    const controller = new AbortController();
    const sleeping = sleep(3_600_000, controller.signal);
    controller.abort(new Error('enough'));
    await expect(sleeping).rejects.toThrow('enough');
  });
});
