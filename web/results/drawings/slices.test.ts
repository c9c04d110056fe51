import { expect, it } from 'vitest';
import { slicePath, slicesOf } from './slices.ts';

it('goes round clockwise from the top, the greatest first', () => {
  const slices = slicesOf(
    [
      { name: 'few', value: 1 },
      { name: 'many', value: 3 },
      { name: 'none', value: 0 },
    ],
    'All others',
  );
  expect(slices?.map(({ name, share }) => [name, share])).toEqual([
    ['many', 0.75],
    ['few', 0.25],
  ]);
  expect(slices?.[0]?.path).toBe('M0,0L0,-50A50,50 0 1 1 -50,0Z');
  expect(slices?.[1]?.path).toBe('M0,0L-50,0A50,50 0 0 1 0,-50Z');
});

it('is a circle where there is one', () => {
  expect(slicesOf([{ name: 'all', value: 7 }], '')?.[0]?.path).toBe(slicePath(0, 1));
  expect(slicePath(0, 1)).not.toContain('L');
});

it('puts what is smaller, and what the answer has not told apart, into one slice', () => {
  const many = Array.from({ length: 12 }, (_, index) => ({ name: `${index}`, value: 12 - index }));
  const slices = slicesOf([{ name: 'others', value: 5, isRest: true }, ...many], 'All others');
  expect(slices).toHaveLength(8);
  expect(slices?.at(-1)).toMatchObject({ name: 'All others', value: 5 + 15, isRest: true });
  expect(slices?.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
});

it('has no part below zero, and none of nothing', () => {
  expect(slicesOf([{ name: 'lost', value: -1 }], '')).toBeUndefined();
  expect(slicesOf([{ name: 'none', value: 0 }], '')).toEqual([]);
});
