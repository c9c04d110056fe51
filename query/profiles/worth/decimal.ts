// Exact decimal numbers of any size, as texts: sums of amounts, in which 0.1 is a tenth.

/**
 * The sum of `units[n]` times ten to the power of `exponents[n]`, without an exponent and without zeros behind the last
 * digit: "-12.5". `units` are whole numbers.
 */
export function decimalSum(exponents: readonly number[], units: readonly string[]): string {
  const scale = -Math.min(0, ...exponents);
  const sum = units.reduce(
    (all, unit, at) => all + BigInt(unit) * 10n ** BigInt((exponents[at] ?? 0) + scale),
    0n,
  );
  const digits = String(sum < 0n ? -sum : sum).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${sum < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
