import { expect, it } from 'vitest';
import { areaPath, barsPath, linePath, splitAt, thinned } from './paths.ts';

const point = (x: number, y = 0) => ({ x, y });

it('ends a line where nothing is known, and shows a point that stands alone', () => {
  expect(linePath([point(0), point(1), null, point(3), null])).toBe('M0,0L1,0M3,0h0');
  expect(linePath([null])).toBe('');
});

it('draws areas as far as both of their lines are known', () => {
  const tops = [point(0, 1), point(1, 1), null, point(3, 1), point(4, 1)];
  const bottoms = [point(0), point(1), point(2), point(3), point(4)];
  expect(areaPath(tops, bottoms)).toBe('M0,1L1,1L1,0L0,0ZM3,1L4,1L4,0L3,0Z');
});

it('draws bars', () => {
  expect(barsPath([{ x: 1, y: 2, width: 3, height: 4 }])).toBe('M1,2h3v4h-3z');
});

it('dashes the step towards the first bucket that is not over', () => {
  expect(splitAt([1, 2, 3, 4], 3)).toEqual({
    over: [1, 2, 3, null],
    open: [null, null, 3, 4],
  });
  expect(splitAt([1, 2], 0)).toEqual({ over: [null, null], open: [1, 2] });
  expect(splitAt([1, 2], 2)).toEqual({ over: [1, 2], open: [null, null] });
});

it('keeps the ends and the extremes of what falls into one px', () => {
  const many = Array.from({ length: 10_000 }, (_, index) =>
    point(index / 100 + 0.001, index === 555 ? -7 : index % 9),
  );
  const few = thinned(many);
  expect(few.length).toBeLessThanOrEqual(400);
  expect(few).toContainEqual(many[555]);
  expect([few[0], few.at(-1)]).toEqual([many[0], many.at(-1)]);
  expect(thinned([point(0), null, point(5)])).toEqual([point(0), null, point(5)]);
});
