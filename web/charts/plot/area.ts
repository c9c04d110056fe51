// Where things stand in the drawing of a chart, in px.

import type { Layer, PlotKind } from './layers.ts';
import type { Bar, Point } from './paths.ts';
import type { ValueAxis } from './value-axis.ts';

export type Area = {
  left: number;
  right: number;
  top: number;
  bottom: number;
  /** The middle of each bucket. */
  xs: readonly number[];
  /** What each bucket has for its bars. */
  slotPx: number;
  yOf: (value: number) => number;
};

/** Of a text of an axis: 12 px system fonts have digits of about 7 px. */
const characterPx = 7;
const bottomPx = 24;
const topPx = 10;
const rightPx = 10;
/** A line of text over the ticks. */
const unitPx = 14;

/** Bars have a slot each; lines begin and end at the edges. */
export function hasSlots(kind: PlotKind): boolean {
  return kind === 'bars' || kind === 'stacked' || kind === 'percent';
}

/** `shares` are the places of the buckets between both edges, for lines; bars stand side by side. */
export function areaOf(chart: {
  widthPx: number;
  heightPx: number;
  kind: PlotKind;
  shares: readonly number[];
  axis: ValueAxis;
  tickTexts: readonly string[];
  hasUnitName: boolean;
}): Area {
  const { widthPx, heightPx, kind, shares, axis, tickTexts } = chart;
  const longest = Math.max(2, ...tickTexts.map((text) => text.length));
  const left = longest * characterPx + 10;
  const right = Math.max(left + 1, widthPx - rightPx);
  const top = topPx + (chart.hasUnitName ? unitPx : 0);
  const bottom = heightPx - bottomPx;
  const slotPx = (right - left) / Math.max(1, shares.length);
  const xs = shares.map((share, index) =>
    hasSlots(kind) ? left + (index + 0.5) * slotPx : left + share * (right - left),
  );
  const yOf = (value: number): number =>
    bottom - ((value - axis.low) / (axis.high - axis.low)) * (bottom - top);
  return { left, right, top, bottom, xs, slotPx, yOf };
}

/** Places between 0 and 1 by the moments of buckets, ascending; one alone stands in the middle. */
export function sharesOf(moments: readonly number[]): number[] {
  const first = moments[0] ?? 0;
  const span = (moments.at(-1) ?? first) - first;
  return moments.map((moment) => (span > 0 ? (moment - first) / span : 0.5));
}

/** The bucket whose middle is the closest; undefined where there is none. */
export function nearest(xs: readonly number[], x: number): number | undefined {
  let found: number | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, middle] of xs.entries()) {
    const distance = Math.abs(middle - x);
    if (distance < least) [found, least] = [index, distance];
  }
  return found;
}

export function pointsOf({ xs, yOf }: Area, values: readonly (number | null)[]): (Point | null)[] {
  return values.map((value, index) => {
    const x = xs[index];
    return value === null || x === undefined ? null : { x, y: yOf(value) };
  });
}

/** How much of its slot a group of bars takes. */
const filled = 0.76;

/**
 * The bars of a layer: beside those of the others for `bars`, on the others' places for the stacked kinds. A mark is a
 * line without height, a little wider than what it is compared with.
 */
export function barsOf(
  area: Area,
  layer: Layer,
  layers: readonly Layer[],
  kind: PlotKind,
): (Bar | null)[] {
  const isBeside = kind === 'bars';
  const own = layers.filter(({ isMark }) => !isMark);
  const before = own.filter(({ index }) => index < layer.index).length;
  const place = layer.isMark ? Math.max(0, before - 1) : before;
  const count = isBeside ? Math.max(1, own.length) : 1;
  const width = Math.max(1, (area.slotPx * filled) / count);
  return layer.to.map((to, index) => {
    const from = layer.from[index] ?? null;
    const middle = area.xs[index];
    if (to === null || from === null || middle === undefined) return null;
    const group = middle - (width * count) / 2;
    const x = group + (isBeside ? place * width : 0);
    const gap = isBeside && count > 1 ? Math.min(1, width / 8) : 0;
    if (layer.isMark) return { x: x - 2, y: area.yOf(to), width: width + 4, height: 0 };
    const [high, low] = [area.yOf(Math.max(from, to)), area.yOf(Math.min(from, to))];
    return { x, y: high, width: width - gap, height: low - high };
  });
}
