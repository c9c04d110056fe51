import { expect, it } from 'vitest';
import { engineTimeOf } from '../../calls/engine-time.ts';
import { AskedTogether } from './asked-together.ts';

const { signal } = new AbortController();

it('looks for a thing once, and again after a failure', async () => {
  const { moments } = new AskedTogether();
  const failing = moments.get('a day', signal, () => Promise.reject(new Error('gone')));
  await expect(failing).rejects.toThrow('gone');
  expect(await moments.get('a day', signal, async () => 1)).toBe(1);
  expect(await moments.get('a day', signal, async () => 2)).toBe(1);
  expect(await moments.get('two days', signal, async () => 2)).toBe(2);
});

it("the engine's time of whoever looks is that of all who wait for what is found", async () => {
  const { moments } = new AskedTogether();
  const [first, second] = [new AbortController().signal, new AbortController().signal];
  const never = () => new Promise<never>(() => {});
  void moments.get('a look', first, never);
  engineTimeOf(first).begin();
  void moments.get('a look', second, never);
  await new Promise(setImmediate);
  expect(engineTimeOf(second).msOfLast(60_000)).toBeGreaterThan(0);
});
