import { expect, it } from 'vitest';
import { saidOf, tooltipRows } from './tooltip-rows.ts';

const lines = [
  { name: 'Views', values: [12, 3, null, 4] },
  { name: 'Views, before', values: [10, 0, 5, null], isPrevious: true },
  { name: 'Clicks', values: [1, 2, 3, 4] },
  { name: 'All before', values: [9, 9, 9, 9], isPrevious: true },
];
const rows = (at: number, ...hidden: string[]) =>
  tooltipRows(lines, new Set(hidden), at, (value) => `${value} x`);

it('puts beside each value what it was before, and by how much it changed', () => {
  expect(rows(0)).toEqual([
    {
      ...{ name: 'Views', series: 0, isPrevious: false },
      ...{ value: '12 x', before: '10 x', change: '+20%' },
    },
    { name: 'Clicks', series: 1, isPrevious: false, value: '1 x' },
    { name: 'All before', series: 1, isPrevious: true, value: '9 x' },
  ]);
});

it('says no change from nothing, and none of what is not known', () => {
  expect(rows(1)[0]).toMatchObject({ value: '3 x', before: '0 x' });
  expect(rows(1)[0]).not.toHaveProperty('change');
  expect(rows(2)[0]).toMatchObject({ value: '–', before: '5 x' });
  expect(rows(3)[0]).not.toHaveProperty('before');
});

it('leaves out what is switched off', () => {
  expect(rows(0, 'Views', 'All before').map(({ name }) => name)).toEqual(['Clicks']);
});

it('says which value is not over, where lines end at different places', () => {
  const cohorts = [
    { name: '1 Nov', values: [1, 2, 3], openFrom: 2 },
    { name: '2 Nov', values: [1, 2], openFrom: 1 },
  ];
  const namesAt = (at: number) =>
    tooltipRows(cohorts, new Set(), at, String).map(({ name }) => name);
  expect(namesAt(1)).toEqual(['1 Nov', '2 Nov (not over)']);
  expect(namesAt(2)).toEqual(['1 Nov (not over)', '2 Nov']);
});

it('is a sentence for who listens', () => {
  expect(saidOf('23 Nov', rows(0, 'All before'))).toBe(
    '23 Nov: Views 12 x, 10 x before, +20%; Clicks 1 x',
  );
});
