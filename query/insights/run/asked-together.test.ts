import { expect, it } from 'vitest';
import { AskedTogether } from './asked-together.ts';
import type { Stored } from './insight-runs.ts';

const stored = (completeUntilMs: number): Stored => ({
  completeUntilMs,
  seen: () => new Promise(() => {}),
});

it('looks for a thing once, and again after a failure', async () => {
  const [one, other] = [stored(1), stored(2)];
  const { stored: found } = new AskedTogether();
  const failing = found.get('a day', () => Promise.reject(new Error('gone')));
  await expect(failing).rejects.toThrow('gone');
  expect(await found.get('a day', async () => one)).toBe(one);
  expect(await found.get('a day', async () => other)).toBe(one);
  expect(await found.get('two days', async () => other)).toBe(other);
});

it('does not run a statement again that failed', async () => {
  const { rows } = new AskedTogether();
  const failing = rows.get('a statement', () => Promise.reject(new Error('too much memory')));
  await expect(failing).rejects.toThrow('too much memory');
  const later = rows.get('a statement', () => expect.fail('ran again'));
  await expect(later).rejects.toThrow('too much memory');
});
