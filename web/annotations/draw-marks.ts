// The annotations of a chart, on its canvas.

import type uPlot from 'uplot';

/** A dashed line with a flag at the top for each bucket. */
export function drawMarks(
  { ctx, bbox, data, valToPos }: uPlot,
  buckets: readonly number[],
  ink: string,
) {
  const pixel = window.devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = ink;
  ctx.lineWidth = pixel;
  ctx.setLineDash([3 * pixel, 3 * pixel]);
  for (const bucket of buckets) {
    const x = Math.round(valToPos(data[0][bucket] ?? 0, 'x', true));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillRect(x, bbox.top, 7 * pixel, 5 * pixel);
  }
  ctx.restore();
}
