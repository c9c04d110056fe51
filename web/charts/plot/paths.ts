// The outlines of a chart, as `d` of SVG paths.

export type Point = { x: number; y: number };

/** A path whose parts end where nothing is known. What stands alone is a point that a round end of the line shows. */
export function linePath(points: readonly (Point | null)[]): string {
  let path = '';
  let isOn = false;
  for (const [index, point] of points.entries()) {
    if (point) path += `${isOn ? 'L' : 'M'}${at(point)}`;
    if (point && !isOn && !points[index + 1]) path += 'h0';
    isOn = point !== null;
  }
  return path;
}

/** Between two lines of the same buckets. */
export function areaPath(
  tops: readonly (Point | null)[],
  bottoms: readonly (Point | null)[],
): string {
  let path = '';
  let begin = 0;
  for (let end = 0; end <= tops.length; end++) {
    if (end < tops.length && tops[end] && bottoms[end]) continue;
    const edge = [...tops.slice(begin, end), ...bottoms.slice(begin, end).reverse()];
    const known = edge.flatMap((point) => (point ? [at(point)] : []));
    if (known.length > 2) path += `M${known.join('L')}Z`;
    begin = end + 1;
  }
  return path;
}

export type Bar = { x: number; y: number; width: number; height: number };

export function barsPath(bars: readonly Bar[]): string {
  return bars
    .map(({ x, y, width, height }) => {
      const across = round(width);
      return `M${round(x)},${round(y)}h${across}v${round(height)}h${-across}z`;
    })
    .join('');
}

/**
 * The buckets that are over, and those from the last of them on: the last step towards an unfinished bucket is not over
 * either. Nulls stand for the others.
 */
export function splitAt<T>(
  points: readonly (T | null)[],
  openFrom: number,
): { over: (T | null)[]; open: (T | null)[] } {
  return {
    over: points.map((point, index) => (index < openFrom ? point : null)),
    open:
      openFrom >= points.length
        ? points.map(() => null)
        : points.map((point, index) => (index >= openFrom - 1 ? point : null)),
  };
}

/** Points that fall into one px are four at most: the first, the lowest, the highest and the last. */
export function thinned(points: readonly (Point | null)[]): (Point | null)[] {
  const kept: (Point | null)[] = [];
  let column: Point[] = [];
  const flush = (): void => {
    const byHeight = column.toSorted((one, other) => one.y - other.y);
    const ends = new Set([column[0], byHeight[0], byHeight.at(-1), column.at(-1)]);
    kept.push(...column.filter((point) => ends.has(point)));
    column = [];
  };
  for (const point of points) {
    const last = column.at(-1);
    if (!point || (last && Math.floor(last.x) !== Math.floor(point.x))) flush();
    if (point) column.push(point);
    else kept.push(null);
  }
  flush();
  return kept;
}

function at({ x, y }: Point): string {
  return `${round(x)},${round(y)}`;
}

/** A tenth of a px is finer than a screen. */
function round(px: number): number {
  return Math.round(px * 10) / 10;
}
