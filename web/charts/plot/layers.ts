// What a chart draws of its lines: from where to where each reaches at each bucket.

import type { Line } from '../line.ts';

/** How the lines of a chart are drawn. `area` and `stacked` add up; in `percent` each bucket is a whole. */
export type PlotKind = 'line' | 'area' | 'bars' | 'stacked' | 'percent';

/** `from` and `to` are null where nothing is known. `mark`: a level to compare with, drawn in dashes. */
export type Layer = {
  /** Its place among the lines of the chart. */
  index: number;
  line: Line;
  from: (number | null)[];
  to: (number | null)[];
  isMark: boolean;
};

/** `shown`: the lines that are switched on, with their places among all lines of the chart. */
export function layersOf(shown: readonly { line: Line; index: number }[], kind: PlotKind): Layer[] {
  if (kind === 'line' || kind === 'bars')
    return shown.map(({ line, index }) => ({
      ...{ index, line, isMark: line.isPrevious ?? false },
      from: line.values.map(() => 0),
      to: [...line.values],
    }));
  const own = shown.filter(({ line }) => !line.isPrevious);
  const stacked = stack(own);
  if (kind === 'percent') return asShares(stacked);
  const before = markOf(shown.filter(({ line }) => line.isPrevious));
  return before ? [...stacked, before] : stacked;
}

/** Each on the one before it: those above zero upwards, those below it downwards. */
function stack(shown: readonly { line: Line; index: number }[]): Layer[] {
  const tops: number[] = [];
  const bottoms: number[] = [];
  return shown.map(({ line, index }) => {
    const from: (number | null)[] = [];
    const to: (number | null)[] = [];
    for (const [bucket, value] of line.values.entries()) {
      const ends = (value ?? 0) < 0 ? bottoms : tops;
      const start = ends[bucket] ?? 0;
      from.push(value === null ? null : start);
      to.push(value === null ? null : start + value);
      ends[bucket] = start + (value ?? 0);
    }
    return { index, line, from, to, isMark: false };
  });
}

function asShares(layers: readonly Layer[]): Layer[] {
  const wholes: number[] = [];
  for (const { line } of layers)
    for (const [bucket, value] of line.values.entries())
      wholes[bucket] = (wholes[bucket] ?? 0) + (value ?? 0);
  const share = (value: number | null, bucket: number): number | null => {
    const whole = wholes[bucket] ?? 0;
    return value === null || whole <= 0 ? null : value / whole;
  };
  return layers.map(({ from, to, ...rest }) => ({
    ...rest,
    from: from.map(share),
    to: to.map(share),
  }));
}

/** What the lines of the range before come to together: it cannot be stacked on what is now. */
function markOf(before: readonly { line: Line; index: number }[]): Layer | undefined {
  const [first] = before;
  if (!first) return undefined;
  const to = first.line.values.map((_, bucket) => {
    const known = before.flatMap(({ line }) => line.values[bucket] ?? []);
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
  });
  return { index: first.index, line: first.line, from: to.map(() => 0), to, isMark: true };
}

/** The least and the greatest that is drawn; zeros where nothing is. */
export function extentOf(layers: readonly Layer[]): { low: number; high: number } {
  let low = 0;
  let high = 0;
  for (const { to } of layers) {
    for (const value of to) {
      if (value === null) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return { low, high };
}
