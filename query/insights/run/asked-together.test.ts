import { expect, it } from 'vitest';
import { AskedTogether } from './asked-together.ts';
import type { Stored } from './insight-runs.ts';

const stored = (version: string): Stored => ({
  version,
  completeUntilMs: undefined,
  isSettled: false,
});

it('looks for a thing once, and again after a failure', async () => {
  const { stored: found } = new AskedTogether();
  const failing = found.get('a day', () => Promise.reject(new Error('gone')));
  await expect(failing).rejects.toThrow('gone');
  expect(await found.get('a day', async () => stored('1'))).toEqual(stored('1'));
  expect(await found.get('a day', async () => stored('2'))).toEqual(stored('1'));
  expect(await found.get('two days', async () => stored('2'))).toEqual(stored('2'));
});
