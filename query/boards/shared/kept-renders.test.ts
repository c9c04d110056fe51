import { expect, it, vi } from 'vitest';
import { KeptRenders } from './kept-renders.ts';

let nowMs = 0;
const clock = { nowMs: () => nowMs };

it('renders a share once for all who ask meanwhile, and again when its time is over', async () => {
  const kept = new KeptRenders<string>(clock, 100);
  let finish: (value: string) => void = () => {};
  const first = new Promise<string>((resolve) => {
    finish = resolve;
  });
  const render = vi.fn(async () => ({ value: await first, bytes: 10, keepMs: 1_000 }));
  const asked = [kept.get('a', render), kept.get('a', render)];
  finish('one');
  expect(await Promise.all(asked)).toEqual(['one', 'one']);
  nowMs += 999;
  expect(await kept.get('a', render)).toBe('one');
  expect(render).toHaveBeenCalledTimes(1);
  nowMs += 1;
  await kept.get('a', render);
  expect(render).toHaveBeenCalledTimes(2);
});

it('forgets the oldest results beyond its bytes', async () => {
  const kept = new KeptRenders<string>(clock, 25);
  const render = vi.fn(async () => ({ value: 'x', bytes: 10, keepMs: 1_000 }));
  for (const id of ['a', 'b', 'c']) await kept.get(id, render);
  await kept.get('c', render);
  await kept.get('b', render);
  expect(render).toHaveBeenCalledTimes(3);
  await kept.get('a', render);
  expect(render).toHaveBeenCalledTimes(4);
});

it('forgets results whose time is over as soon as it keeps another', async () => {
  const kept = new KeptRenders<string>(clock, 100);
  const lasting = (keepMs: number) => async () => ({ value: 'x', bytes: 10, keepMs });
  await kept.get('a', lasting(1_000));
  await kept.get('b', lasting(5_000));
  expect(kept.bytes).toBe(20);
  nowMs += 1_000;
  await kept.get('c', lasting(1_000));
  expect(kept.bytes).toBe(20);
  expect(await kept.get('b', () => Promise.reject(new Error('rendered again')))).toBe('x');
});

it('keeps no failure', async () => {
  const kept = new KeptRenders<string>(clock, 25);
  const failing = async () => {
    throw new Error('away');
  };
  await expect(kept.get('a', failing)).rejects.toThrow('away');
  expect(await kept.get('a', async () => ({ value: 'y', bytes: 1, keepMs: 1 }))).toBe('y');
});
