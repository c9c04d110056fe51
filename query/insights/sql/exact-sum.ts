// Sums of doubles, exact and rounded once, so that no order of the events changes them. A double is a whole number of
// 2^-1074: its mantissa, shifted. A sum is a map from a place to a number: that many times 2^(128 * place - 1074).
// Sums are added up by sumMap. The text of everything is SQL.

/** Bits of a place. */
const placeBits = 128;
/** The exponents of events are grouped by so many, which leaves an Int128 room for 2^42 mantissas. */
const scaleBits = 32;
const scalesOfPlace = placeBits / scaleBits;
/** Of events that have no number. */
const noScale = 64;
/** The unit of the place 0 is 2 to the power of minus that. */
const leastExponent = 1_074;

const mantissaBits = 52;
const exponentBias = 1_023;

/**
 * SELECT of these columns (some), a, b and weight: the sum of the column `number` of `from`, how many rows have one,
 * and how many there are. Mantissas are added up by exponent first: sumMap for each event takes four times as long.
 * `more` are columns beside them, or another weight: an aggregate function and its arguments each.
 */
export function exactSumsSql(
  columns: string,
  from: string,
  more: Readonly<Record<string, readonly [name: string, of: string]>> = {},
): string {
  const others = Object.entries(more);
  const states = others.map(([name, [combine, of]]) => `, ${combine}State(${of}) AS ${name}_state`);
  const merged = others.map(([name, [combine]]) => `, ${combine}Merge(${name}_state) AS ${name}`);
  const weight = 'weight' in more ? '' : ', toFloat64(sum(events)) AS weight';
  // NULL is read as a NaN, whose exponent says that it is no number.
  const bits = 'reinterpretAsUInt64(ifNull(number, nan))';
  const numbers = `SELECT *, ${bits} AS bits, bitAnd(bitShiftRight(bits, ${mantissaBits}), 2047) AS exponent,
      toUInt16(greatest(exponent, 1) - 1) AS shift, toInt64(${hiddenBitSql('bits', 'exponent')}) AS mantissa FROM (${from})`;
  const scales = `SELECT ${columns}, if(exponent = 2047, ${noScale}, intDiv(shift, ${scaleBits})) AS scale, count() AS events,
      sum(bitShiftLeft(toInt128(if(number < 0, -mantissa, mantissa)), bitAnd(shift, ${scaleBits - 1}))) AS units${states.join('')}
    FROM (${numbers}) GROUP BY ${columns}, scale`;
  const units = `bitShiftLeft(toInt256(units), ${scaleBits} * (scale % ${scalesOfPlace}))`;
  return `SELECT ${columns}, sumMapIf(map(toUInt8(intDiv(scale, ${scalesOfPlace})), ${units}), scale < ${noScale}) AS a,
      toFloat64(sumIf(events, scale < ${noScale})) AS b${weight}${merged.join('')}
    FROM (${scales}) GROUP BY ${columns}`;
}

/** Usual numbers are whole numbers of 2^-66 below 2^17, as all doubles are from 2^-14 on. */
const [wholeScale, restScale] = [2 ** 24, 2 ** 42];

/** SELECT of `from` with, of its column `number`: is_usual, and two parts, of which the engine's own sums are exact. */
export function usualPartsSql(from: string): string {
  return `SELECT *, ifNull(number, nan) * ${wholeScale} AS scaled, trunc(scaled) AS whole, (scaled - whole) * ${restScale} AS rest,
      abs(scaled) < ${2 ** 17 * wholeScale} AND rest = trunc(rest) AS is_usual FROM (${from})`;
}

/**
 * SELECT of `from` with number, the mean of `count` usual numbers whose parts are added up as wholes and rests, rounded
 * once, and is_exact, without which it is none. Fewer than 2^10 numbers have sums below 2^53. The quotient has 12 bits
 * at least, so that midpoints of two doubles are multiples of 2^-42 of it. What is left to divide is exact, and its
 * rounded quotient lies on the side of each midpoint where the true one lies: that differs by 2^-52, or not at all.
 */
export function usualMeansSql(from: string): string {
  return `SELECT *, floor(wholes / count) AS quotient, wholes - quotient * count + rests / ${restScale} AS left_over,
      (quotient + left_over / count) / ${wholeScale} AS number,
      count < 1024 AND (abs(quotient) > 4096 OR (wholes = 0 AND rests = 0)) AS is_exact FROM (${from})`;
}

/** The sum of an array of finite doubles. */
export function exactSumSql(numbers: string): string {
  const bits = 'reinterpretAsUInt64(number)';
  const exponent = `bitAnd(bitShiftRight(${bits}, ${mantissaBits}), 2047)`;
  const shift = `(greatest(${exponent}, 1) - 1)`;
  const mantissa = `if(number < 0, -1, 1) * toInt64(${hiddenBitSql(bits, exponent)})`;
  const units = `bitShiftLeft(toInt256(${mantissa}), ${shift} % ${placeBits})`;
  return `arrayReduce('sumMap', arrayMap(number -> map(toUInt8(intDiv(${shift}, ${placeBits})), ${units}), ${numbers}))`;
}

/** The mantissa of a double: the bit that is not written is set but for the least exponent. */
function hiddenBitSql(bits: string, exponent: string): string {
  return `bitOr(bitAnd(${bits}, ${2 ** mantissaBits - 1}), if(${exponent} > 0, ${2 ** mantissaBits}, 0))`;
}

/**
 * The nearest double of such a sum, or of a sum divided by `count`: half to even, infinite beyond the largest double, 0
 * for nothing.
 */
export function nearestDoubleSql(sum: string, count?: string): string {
  const [place, greatest, next, lower] = ['parts.2', 'parts.3', 'parts.4', 'parts.5'];
  const rest = `(2 * ${next} + ${lower})`;
  const divisor = `toUInt128(greatest(${count}, 1))`;
  return letSql(
    [
      ['parts', digitsSql(sum)],
      // Rounded down, of 124 bits at least.
      ['floor', `bitShiftLeft(${greatest}, ${placeBits - 2}) + bitShiftRight(${rest}, 3)`],
      ['has_more', `bitAnd(${rest}, 7) != 0`],
      ['size', 'toUInt256(abs(floor)) - (floor < 0 AND has_more)'],
      ['dropped', `toInt32(greatest(${sizeExponentSql} - 120, 0))`],
      ['has_more', `has_more OR ${hasBitsSql('dropped')}`],
      ['size', 'toUInt128(bitShiftRight(size, dropped))'],
      ...(count === undefined
        ? []
        : ([
            ['has_more', `has_more OR size % ${divisor} != 0`],
            ['size', `intDiv(size, ${divisor})`],
          ] as const)),
      ['power', `dropped + ${placeBits} * ${place} - ${placeBits - 2 + leastExponent}`],
      // So that 62 bits stay, or fewer where the last one is a quarter of the least double.
      ['cut', `greatest(${sizeExponentSql} - 61, ${-leastExponent - 2} - power, 0)`],
      ['kept', `bitOr(bitShiftRight(size, cut), toUInt128(has_more OR ${hasBitsSql('cut')}))`],
      ['power', 'toInt32(power + cut)'],
      ['half', 'intDiv(power, 2)'],
    ],
    // Two factors, because one alone may be no double. One of the products at most is rounded: a mean may become -0.
    `multiIf(${greatest} = 0, toFloat64(0), floor < 0, -1, 1)
      * toFloat64(toUInt64(kept)) * ${powerOf2Sql('half')} * ${powerOf2Sql('(power - half)')} + 0`,
  );
}

/**
 * A tuple of what is handed on, which is 0 at the end, and of a sum's greatest digit to the base 2^128: its place, the
 * digit, the next one, and the sign of all lower ones, which is that of the greatest among them. Digits are from -2^127
 * to below 2^127. From the least on, each hands on what is too much for it.
 */
function digitsSql(sum: string): string {
  const places = `mapKeys(${sum})`;
  const withNext = `arraySort(arrayDistinct(arrayConcat(${places}, arrayMap(at -> toUInt8(at + 1), ${places}))))`;
  const half = `bitShiftLeft(toInt256(1), ${placeBits - 1})`;
  const [lastPlace, last, next, lower] = ['known.2', 'known.3', 'known.4', 'known.5'];
  const step = letSql(
    [
      ['units', 'units + known.1'],
      ['carry', `toInt256(bitShiftRight(units + ${half}, ${placeBits}))`],
      ['digit', `toInt256(units - bitShiftLeft(carry, ${placeBits}))`],
    ],
    `multiIf(digit = 0, (carry, ${lastPlace}, ${last}, ${next}, ${lower}),
      ${lastPlace} = at - 1, (carry, at, digit, ${last}, if(${next} = 0, ${lower}, toInt8(sign(${next})))),
      (carry, at, digit, toInt256(0), toInt8(sign(${last}))))`,
  );
  const nothing = '(toInt256(0), toInt32(0), toInt256(0), toInt256(0), toInt8(0))';
  return `arrayFold((known, at, units) -> ${step}, arrayMap(at -> toInt32(at), ${withNext}),
    arrayMap(at -> ${sum}[at], ${withNext}), ${nothing})`;
}

/** `result` with each name standing for its value; a value may use the names before it. */
function letSql(
  values: readonly (readonly [name: string, value: string])[],
  result: string,
): string {
  return values.reduceRight(
    (sql, [name, value]) => `arrayMap(${name} -> ${sql}, [${value}])[1]`,
    result,
  );
}

/** The binary exponent of `size`, which is unsigned, or one more or less where it is near a power of 2. */
const sizeExponentSql = `(toInt32(bitShiftRight(reinterpretAsUInt64(toFloat64(size)), ${mantissaBits})) - ${exponentBias})`;

/** Whether any of the lowest bits of `size` is set. */
function hasBitsSql(bits: string): string {
  return `bitShiftLeft(bitShiftRight(size, ${bits}), ${bits}) != size`;
}

/** From -1,022 to 1,023. */
function powerOf2Sql(exponent: string): string {
  return `reinterpretAsFloat64(bitShiftLeft(toUInt64(${exponent} + ${exponentBias}), ${mantissaBits}))`;
}
