// Sums of doubles in whole numbers of 2^-1074, rounded to the nearest double at the end.

const leastExponent = 1_074;
const mantissaBits = 53;

const bytes = new DataView(new ArrayBuffer(8));

/** So many times 2^-1074. */
function unitsOf(value: number): bigint {
  bytes.setFloat64(0, value);
  const bits = bytes.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 2_047n);
  const mantissa = BigInt.asUintN(52, bits) + (exponent > 0 ? 1n << 52n : 0n);
  const size = mantissa << BigInt(Math.max(exponent, 1) - 1);
  return bits >> 63n === 1n ? -size : size;
}

/** The nearest double of `units` * 2^-1074 / `divisor`, half to even; 0 has no sign. */
function nearestDouble(units: bigint, divisor: bigint): number {
  if (units < 0n) return 0 - nearestDouble(-units, divisor);
  const bits = units.toString(2).length - divisor.toString(2).length;
  // A bit too few or too many in the quotient: then it is divided again.
  for (let shift = Math.max(bits - mantissaBits - 1, 0); ; shift++) {
    const unit = divisor << BigInt(shift);
    const down = units / unit;
    const twice = 2n * (units - down * unit);
    const isUp = twice > unit || (twice === unit && down % 2n === 1n);
    const rounded = down + (isUp ? 1n : 0n);
    if (down >= 1n << BigInt(mantissaBits)) continue;
    // The first product is exact, the second one only a denormal or too much.
    const power = shift - leastExponent;
    const half = Math.trunc(power / 2);
    return Number(rounded) * 2 ** half * 2 ** (power - half);
  }
}

function unitsOfAll(values: readonly number[]): bigint {
  return values.reduce((sum, value) => sum + unitsOf(value), 0n);
}

export function exactSum(values: readonly number[]): number {
  return nearestDouble(unitsOfAll(values), 1n);
}

/** 0 of nothing. */
export function exactMean(values: readonly number[], divisor = values.length): number {
  return nearestDouble(unitsOfAll(values), BigInt(Math.max(divisor, 1)));
}
