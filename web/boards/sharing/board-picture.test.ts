// How dense a picture of a board is: no canvas is larger than every browser paints.

import { expect, it } from 'vitest';
import { densityOf } from './board-picture.ts';

it.each([
  [1_272, 2_400],
  [336, 12_000],
])('has two pixels for each of a board of %i x %i', (width, height) => {
  expect(densityOf(width, height)).toBe(2);
});

it.each([
  [1_272, 9_000],
  [336, 30_000],
  [5_000, 5_000],
])('has as many as a canvas may have of a board of %i x %i', (width, height) => {
  const density = densityOf(width, height);
  expect(density).toBeLessThan(2);
  expect(density * height).toBeLessThanOrEqual(32_767);
  const area = Math.floor(width * density) * Math.floor(height * density);
  expect(area).toBeLessThanOrEqual(16_777_216);
  expect(area).toBeGreaterThan(10_000_000);
});
