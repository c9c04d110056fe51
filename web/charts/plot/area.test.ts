import { expect, it } from 'vitest';
import { areaOf, barsOf, nearest, pointsOf, sharesOf } from './area.ts';
import { layersOf, type PlotKind } from './layers.ts';

const axis = { low: 0, high: 10, ticks: [0, 5, 10] };
const areaFor = (kind: PlotKind, count: number) =>
  areaOf({
    ...{ widthPx: 434, heightPx: 134, kind, axis, hasUnitName: false },
    shares: sharesOf(Array.from({ length: count }, (_, index) => index)),
    tickTexts: ['0', '10'],
  });

it('places lines by time, from edge to edge', () => {
  expect(sharesOf([0, 10, 40])).toEqual([0, 0.25, 1]);
  expect(sharesOf([7])).toEqual([0.5]);
  const area = areaFor('line', 3);
  expect([area.xs[0], area.xs[2]]).toEqual([area.left, area.right]);
  expect(pointsOf(area, [0, null, 10])).toEqual([
    { x: area.left, y: area.bottom },
    null,
    { x: area.right, y: area.top },
  ]);
});

it('finds the bucket at the pointer', () => {
  expect(nearest([10, 20, 40], 29)).toBe(1);
  expect(nearest([10, 20, 40], 31)).toBe(2);
  expect(nearest([], 3)).toBeUndefined();
});

const lines = [
  { name: 'a', values: [5] },
  { name: 'a, before', values: [10], isPrevious: true },
  { name: 'b', values: [10] },
];
const shown = lines.map((line, index) => ({ line, index }));

it('puts bars side by side, each with the level of before on it', () => {
  const area = areaFor('bars', 1);
  const layers = layersOf(shown, 'bars');
  const [a, before, b] = layers.map((layer) => barsOf(area, layer, layers, 'bars')[0]);
  expect(a?.height).toBeCloseTo((area.bottom - area.top) / 2);
  expect(before).toMatchObject({ y: area.top, height: 0 });
  expect(before?.x).toBeCloseTo((a?.x ?? 0) - 2);
  expect(b?.x).toBeGreaterThanOrEqual((a?.x ?? 0) + (a?.width ?? 0));
});

it('stacks bars in one place', () => {
  const area = areaFor('stacked', 1);
  const layers = layersOf(
    shown.filter(({ line }) => !line.isPrevious),
    'stacked',
  );
  const [a, b] = layers.map((layer) => barsOf(area, layer, layers, 'stacked')[0]);
  expect(a?.x).toBe(b?.x);
  expect((b?.y ?? 0) + (b?.height ?? 0)).toBeCloseTo(a?.y ?? -1);
});
