// Sums of exact-sum.ts as a statement answers them, and their reading: the nearest double is found here, because SQL
// for it takes the engine as long to plan as all of a statement besides.

/** Of a place of a sum. */
const placeBits = 128n;
/** The unit of the place 0 is 2 to the power of minus that. */
const leastExponent = 1_074;
const mantissaBits = 53;

/** The text of a sum, or of a sum divided by `count`. SQL. */
export function exactTextSql(sum: string, count?: string): string {
  const text = `toString(${sum})`;
  return count === undefined ? text : `concat(${text}, '/', toString(${count}))`;
}

export function isExactText(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('{');
}

/** The nearest double of such a text: half to even, infinite beyond the largest double, 0 of nothing and of NaN. */
export function readExactText(text: string): number {
  const [sum = '', count = '1'] = text.split('/');
  let units = 0n;
  for (const [, place = '', number = ''] of sum.matchAll(/(\d+):(-?\d+)/g)) {
    units += BigInt(number) << (placeBits * BigInt(place));
  }
  const divisor = BigInt(Number(count) || 0);
  // Not -0.
  return units < 0n ? 0 - nearest(-units, divisor) : nearest(units, divisor);
}

/** Of so many 2^-1074, divided by `count`: first rounded down to two bits more than a double has. */
function nearest(units: bigint, count: bigint): number {
  if (units === 0n || count === 0n) return 0;
  const shift = BigInt(Math.max(1, mantissaBits + 2 + bitsOf(count) - bitsOf(units)));
  const size = units << shift;
  const quotient = size / count;
  // The least double is the unit: what is smaller has fewer bits.
  const dropped = BigInt(Math.max(bitsOf(quotient) - mantissaBits, Number(shift)));
  const kept = quotient >> dropped;
  const rest = quotient - (kept << dropped);
  const half = 1n << (dropped - 1n);
  const isAbove = rest > half || (rest === half && quotient * count !== size);
  const isUp = isAbove || (rest === half && kept % 2n === 1n);
  return Number(isUp ? kept + 1n : kept) * 2 ** (Number(dropped - shift) - leastExponent);
}

function bitsOf(number: bigint): number {
  return number.toString(2).length;
}
