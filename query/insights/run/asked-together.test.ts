import { expect, it } from 'vitest';
import { engineTimeOf } from '../../calls/engine-time.ts';
import { AskedTogether } from './asked-together.ts';
import type { Stored } from './insight-runs.ts';

const { signal } = new AbortController();
const stored = (completeUntilMs: number): Stored => ({
  completeUntilMs,
  seen: () => new Promise(() => {}),
});

it('looks for a thing once, and again after a failure', async () => {
  const [one, other] = [stored(1), stored(2)];
  const { stored: found } = new AskedTogether();
  const failing = found.get('a day', signal, () => Promise.reject(new Error('gone')));
  await expect(failing).rejects.toThrow('gone');
  expect(await found.get('a day', signal, async () => one)).toBe(one);
  expect(await found.get('a day', signal, async () => other)).toBe(one);
  expect(await found.get('two days', signal, async () => other)).toBe(other);
});

it("the engine's time of whoever looks is that of all who wait for what is found", async () => {
  const { rows } = new AskedTogether();
  const [first, second] = [new AbortController().signal, new AbortController().signal];
  const never = () => new Promise<never>(() => {});
  void rows.get('a statement', first, never);
  engineTimeOf(first).begin();
  void rows.get('a statement', second, never);
  await new Promise(setImmediate);
  expect(engineTimeOf(second).msOfLast(60_000)).toBeGreaterThan(0);
});

it('does not run a statement again that failed', async () => {
  const { rows } = new AskedTogether();
  const failing = rows.get('a statement', signal, () =>
    Promise.reject(new Error('too much memory')),
  );
  await expect(failing).rejects.toThrow('too much memory');
  const later = rows.get('a statement', signal, () => expect.fail('ran again'));
  await expect(later).rejects.toThrow('too much memory');
});
