// The size of a statement counts a parameter at each place that names it.

import { expect, it } from 'vitest';
import { fitsStore, maxStatementBytes } from './statement-size.ts';

const text = "'".repeat(50_000);
const places = (count: number): string => '{p0:String} '.repeat(count);

it('takes a parameter at so many places as a statement is long', () => {
  // A quote is escaped twice.
  const most = Math.floor(maxStatementBytes / (4 * text.length + '{p0:String} '.length));
  expect(fitsStore(places(most), { p0: text })).toBe(true);
  expect(fitsStore(places(most + 1), { p0: text })).toBe(false);
});

it('takes no more than a URL has', () => {
  expect(fitsStore('{p0:String}', { p0: 'a'.repeat(1_000_000) })).toBe(true);
  expect(fitsStore('{p0:String}', { p0: 'a'.repeat(1_048_576) })).toBe(false);
});
