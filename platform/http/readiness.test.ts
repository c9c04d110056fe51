// What counts as ready while a dependency mends itself.

import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type Holds, isReady, shareReadiness } from './readiness.ts';

it('a check with a grace counts as holding until it has failed for longer, and has none before it held', async () => {
  let holds = false;
  let nowMs = 0;
  let runs = 0;
  const mending = {
    name: 'mending',
    graceMs: 15_000,
    check: () => {
      runs++;
      return holds;
    },
  };
  const ask = shareReadiness([mending, { name: 'plain', check: () => holds }], 0, () => nowMs);
  const at = async (ms: number, now: boolean): Promise<Holds[]> => {
    [nowMs, holds] = [ms, now];
    // An answer is shared until the next timer.
    for (const before = runs; ; await turn()) {
      const answer = Object.values(await ask());
      if (runs > before) return answer;
    }
  };
  expect(await at(0, false)).toEqual([false, false]);
  expect(await at(1_000, true)).toEqual([true, true]);
  // Nobody asked for an hour: the failure is as old as the first answer that tells it.
  expect(await at(3_600_000, false)).toEqual([true, false]);
  expect(await at(3_614_999, false)).toEqual([true, false]);
  expect(await at(3_615_000, false)).toEqual([false, false]);
  expect(await at(3_616_000, true)).toEqual([true, true]);
  expect(await at(3_617_000, false)).toEqual([true, false]);
});

it('what waits for another process to end is ready, and says that it waits', async () => {
  const readiness = await shareReadiness([{ name: 'pipeline', check: () => 'standby' }])();
  expect(readiness).toEqual({ pipeline: 'standby' });
  expect(isReady(readiness)).toBe(true);
});

it('an answer is shared until it is too old, or something is heard that makes it void', async () => {
  let holds = true;
  let changes = 0;
  const ask = shareReadiness([{ name: 'a', changes: () => changes, check: () => holds }], 60_000);
  expect(await ask()).toEqual({ a: true });
  holds = false;
  expect(await ask()).toEqual({ a: true });
  changes++;
  expect(await ask()).toEqual({ a: false });
  holds = true;
  expect(await ask()).toEqual({ a: false });
});

it('whoever asks while the checks run waits for new ones where theirs are void', async () => {
  let changes = 0;
  const ends: ((holds: boolean) => void)[] = [];
  const check = () => new Promise<boolean>((resolve) => ends.push(resolve));
  const ask = shareReadiness([{ name: 'a', changes: () => changes, check }], 60_000);
  const before = ask();
  changes++;
  const after = ask();
  ends[1]?.(false);
  expect(await after).toEqual({ a: false });
  ends[0]?.(true);
  expect(await before).toEqual({ a: true });
  expect(await ask()).toEqual({ a: false });
});
