// Decimal texts and the ranges of int64 between them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { intRange, parseDecimal } from './numeric-range.ts';

const max = 2n ** 63n - 1n;
const min = -(2n ** 63n);

function parsed(text: string) {
  const number = parseDecimal(text);
  if (number === undefined) throw new Error(`${text} is a number`);
  return number;
}

describe('a decimal text', () => {
  const cases: [string, bigint, bigint][] = [
    ['0', 0n, 0n],
    ['-0.000', 0n, 0n],
    ['1.5', 1n, 2n],
    ['-1.5', -2n, -1n],
    ['9007199254740993', 9007199254740993n, 9007199254740993n],
    ['9223372036854775807', max, max],
    ['9223372036854775807.5', max, max + 1n],
    ['1e3', 1000n, 1000n],
    ['1.25e1', 12n, 13n],
    ['125e-1', 12n, 13n],
    ['1e-400', 0n, 1n],
    ['-1e-400', -1n, 0n],
    ['100e-2', 1n, 1n],
  ];
  it.each(cases)('%s lies between the integers next to it', (text, floor, ceil) => {
    expect(parsed(text)).toMatchObject({ floor, ceil });
  });

  it.each(['', ' 1', '1 ', '+1', '01', '.5', '1.', '1e', 'NaN', 'Infinity', '1e309', '0x1', '1_0'])(
    '%j is no number',
    (text) => {
      expect(parseDecimal(text)).toBeUndefined();
    },
  );

  it('of any double lies between the integers that JavaScript rounds it to', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e15, max: 1e15, noNaN: true }), (double) => {
        const number = parsed(String(double).replace('+', ''));
        expect(number.floor).toBe(BigInt(Math.floor(double)));
        expect(number.ceil).toBe(BigInt(Math.ceil(double)));
        expect(number.double).toBe(Number(String(double)));
      }),
    );
  });
});

describe('a range of int64', () => {
  const at = (text: string, inclusive: boolean) => ({ number: parsed(text), inclusive });

  it('includes or excludes its ends', () => {
    expect(intRange(at('2', true), at('4', true))).toEqual({ min: 2n, max: 4n });
    expect(intRange(at('2', false), at('4', false))).toEqual({ min: 3n, max: 3n });
    expect(intRange(at('1.5', false), at('2.5', false))).toEqual({ min: 2n, max: 2n });
    expect(intRange(at('-1.5', true), at('-0.5', true))).toEqual({ min: -1n, max: -1n });
  });

  it('is open without a bound', () => {
    expect(intRange(undefined, at('0', true))).toEqual({ min, max: 0n });
    expect(intRange(at('0', true), undefined)).toEqual({ min: 0n, max });
  });

  it('ends where int64 ends', () => {
    expect(intRange(at('-1e300', true), at('1e300', true))).toEqual({ min, max });
    expect(intRange(at('9223372036854775807', true), undefined)).toEqual({ min: max, max });
    expect(intRange(at('9223372036854775807', false), undefined)).toBeUndefined();
    expect(intRange(undefined, at('-9223372036854775808', false))).toBeUndefined();
    expect(intRange(at('1e300', true), undefined)).toBeUndefined();
    expect(intRange(undefined, at('-1e300', true))).toBeUndefined();
  });

  it('is empty if no integer lies between its bounds', () => {
    expect(intRange(at('5', true), at('4', true))).toBeUndefined();
    expect(intRange(at('1', false), at('2', false))).toBeUndefined();
  });
});
