import { expect, it } from 'vitest';
import { extentOf, layersOf, type PlotKind } from './layers.ts';

const lines = [
  { name: 'a', values: [1, 2, null] },
  { name: 'b', values: [3, 0, 4] },
  { name: 'b, before', values: [5, null, 1], isPrevious: true },
  { name: 'gone', values: [-2, -1, 0] },
];
const drawn = (kind: PlotKind, some = lines) =>
  layersOf(
    some.map((line, index) => ({ line, index })),
    kind,
  ).map(({ line, from, to, isMark }) => [line.name, from, to, isMark]);

it('begins each line and bar at zero', () => {
  expect(drawn('bars', lines.slice(0, 1))).toEqual([['a', [0, 0, 0], [1, 2, null], false]]);
  expect(drawn('line')[2]?.[3]).toBe(true);
});

it('puts one on the other, and hangs what is below zero down', () => {
  expect(drawn('stacked')).toEqual([
    ['a', [0, 0, null], [1, 2, null], false],
    ['b', [1, 2, 0], [4, 2, 4], false],
    ['gone', [0, 0, 4], [-2, -1, 4], false],
    ['b, before', [0, 0, 0], [5, null, 1], true],
  ]);
  const layers = layersOf(
    lines.map((line, index) => ({ line, index })),
    'area',
  );
  expect(extentOf(layers)).toEqual({ low: -2, high: 5 });
});

it('makes a whole of each bucket that has something, and compares no shares', () => {
  expect(drawn('percent', lines.slice(0, 3))).toEqual([
    ['a', [0, 0, null], [0.25, 1, null], false],
    ['b', [0.25, 1, 0], [1, 1, 1], false],
  ]);
  expect(drawn('percent', [{ name: 'a', values: [0] }])).toEqual([['a', [null], [null], false]]);
});

it('reaches from zero to zero where nothing is drawn', () => {
  expect(extentOf([])).toEqual({ low: 0, high: 0 });
});
