// How dense a picture of a board is: no canvas is larger than every browser paints. And what stays out of it.

import { expect, it } from 'vitest';
import { densityOf, rulesOf, xmlText } from './board-picture.ts';

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

it.each(['\u0001', '\u000B', '\u001F', '\uFFFE', '\uFFFF', '\uD800', '\uDFFF'])(
  'leaves out a character that XML has not (%j)',
  (character) => {
    expect(xmlText(`Notes${character} of<b>\uD83D\uDE00</b>`)).toBe('Notes of<b>\u{1F600}</b>');
  },
);

it('keeps all other characters', () => {
  const kept = '\t\n\r \u007F\uD7FF\uE000\uFFFD\u{10000}\u{10FFFF}';
  expect(xmlText(kept)).toBe(kept);
});

it('leaves out a style sheet that the page may not read, as that of an extension', () => {
  const sheetOf = (...texts: string[]) => ({ cssRules: texts.map((cssText) => ({ cssText })) });
  const foreign = {
    get cssRules(): never {
      throw new DOMException('Cannot access rules', 'SecurityError');
    },
  };
  const sheets = [sheetOf('p { margin: 0 }', 'b { color: red }'), foreign, sheetOf('i { top: 0 }')];
  expect(rulesOf(sheets)).toBe('p { margin: 0 }\nb { color: red }\ni { top: 0 }');
});
