// The numbers that a numeric filter lets through. An int64 property is compared exactly, beyond 2^53 too; a double
// property with the double nearest to the filter's text. The SQL is property-condition.ts's.

/** A filter's number, to compare with doubles and with integers. */
export interface DecimalNumber {
  double: number;
  /** The greatest integer not above it, exact. */
  floor: bigint;
  /** The least integer not below it, exact. */
  ceil: bigint;
}

/** One side of a range. */
export interface Bound {
  number: DecimalNumber;
  inclusive: boolean;
}

export const maxInt64 = 2n ** 63n - 1n;
export const minInt64 = -(2n ** 63n);
// Beyond every int64, so that all comparisons with it have the same answer.
const beyondInt64 = 2n ** 64n;

const decimal = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d{1,6}))?$/;

/** Reads a number in JSON's form; undefined for any other text and for a number beyond the doubles. */
export function parseDecimal(text: string): DecimalNumber | undefined {
  const match = decimal.exec(text);
  const double = Number(text);
  if (match === null || !Number.isFinite(double)) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  if (/^0+$/.test(digits)) return { double, floor: 0n, ceil: 0n };
  const pointAt = whole.length + Number(exponent);
  const magnitude = magnitudeOf(digits, pointAt, Math.abs(double));
  return sign === ''
    ? { double, floor: magnitude.floor, ceil: magnitude.ceil }
    : { double, floor: -magnitude.ceil, ceil: -magnitude.floor };
}

function magnitudeOf(digits: string, pointAt: number, double: number) {
  if (double >= 1e19) return { floor: beyondInt64, ceil: beyondInt64 };
  const whole = pointAt <= 0 ? '0' : digits.slice(0, pointAt).padEnd(pointAt, '0');
  const floor = BigInt(whole);
  const isWhole = /^0*$/.test(digits.slice(Math.max(0, pointAt)));
  return { floor, ceil: isWhole ? floor : floor + 1n };
}

/** The int64 values within both bounds, both ends included; undefined if there are none. */
export function intRange(
  lower: Bound | undefined,
  upper: Bound | undefined,
): { min: bigint; max: bigint } | undefined {
  const min = lower === undefined ? minInt64 : leastInt(lower);
  const max = upper === undefined ? maxInt64 : greatestInt(upper);
  const clamped = {
    min: min < minInt64 ? minInt64 : min,
    max: max > maxInt64 ? maxInt64 : max,
  };
  return clamped.min <= clamped.max ? clamped : undefined;
}

function leastInt({ number, inclusive }: Bound): bigint {
  return inclusive ? number.ceil : number.floor + 1n;
}

function greatestInt({ number, inclusive }: Bound): bigint {
  return inclusive ? number.floor : number.ceil - 1n;
}
