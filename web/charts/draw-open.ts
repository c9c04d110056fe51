// The part of a chart that is not over yet, on its canvas.

import type uPlot from 'uplot';

/** Veils the buckets from that one on, and half the way to the one before. */
export function drawOpen({ ctx, bbox, data, valToPos }: uPlot, from: number, veil: string): void {
  const at = data[0][from];
  if (at === undefined) return;
  const before = data[0][from - 1] ?? at;
  const left = valToPos((at + before) / 2, 'x', true);
  ctx.fillStyle = veil;
  ctx.globalAlpha = 0.55;
  ctx.fillRect(left, bbox.top, bbox.left + bbox.width - left, bbox.height);
  ctx.globalAlpha = 1;
}
