// A pie of named values: its slices from the top on, clockwise, the greatest first.

export type Slice = { name: string; value: number; share: number; isRest: boolean; path: string };

/** As many as the theme has colours; what is smaller is one slice. */
const maxSlices = 8;
const radius = 50;

/** undefined where a value is below zero: it is no part of a whole. Values of zero have no slice. */
export function slicesOf(
  values: readonly { name: string; value: number; isRest?: boolean | undefined }[],
  restName: string,
): Slice[] | undefined {
  if (values.some(({ value }) => value < 0)) return undefined;
  const known = values.filter(({ value }) => value > 0);
  const rest = known.filter(({ isRest }) => isRest);
  const sorted = known.filter(({ isRest }) => !isRest).sort((a, b) => b.value - a.value);
  const most = rest.length > 0 || sorted.length > maxSlices ? maxSlices - 1 : maxSlices;
  const small = [...sorted.slice(most), ...rest].reduce((sum, { value }) => sum + value, 0);
  const shown = [
    ...sorted.slice(0, most).map(({ name, value }) => ({ name, value, isRest: false })),
    ...(small > 0 ? [{ name: restName, value: small, isRest: true }] : []),
  ];
  const whole = shown.reduce((sum, { value }) => sum + value, 0);
  let from = 0;
  return shown.map((one) => {
    const share = one.value / whole;
    const path = slicePath(from, from + share);
    from += share;
    return { ...one, share, path };
  });
}

/** Of a circle of radius 50 around 0, between two shares of it. A whole one has no edges. */
export function slicePath(from: number, to: number): string {
  if (to - from > 1 - 1e-9)
    return `M0,${-radius}A${radius},${radius} 0 1 1 0,${radius}A${radius},${radius} 0 1 1 0,${-radius}Z`;
  const isLong = to - from > 0.5 ? 1 : 0;
  return `M0,0L${edge(from)}A${radius},${radius} 0 ${isLong} 1 ${edge(to)}Z`;
}

function edge(share: number): string {
  const angle = share * 2 * Math.PI;
  const [x, y] = [Math.sin(angle) * radius, -Math.cos(angle) * radius];
  return `${Number(x.toFixed(3)) + 0},${Number(y.toFixed(3)) + 0}`;
}
