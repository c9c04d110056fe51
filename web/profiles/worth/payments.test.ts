import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import {
  type PropertyValue,
  PropertyValueSchema,
} from '../../../proto/gen/common/v1/property_value_pb.js';
import { broughtTexts, sumText } from './payments.ts';

const ofDouble = (value: number) =>
  create(PropertyValueSchema, { value: { case: 'doubleValue', value } });
const ofInt = (value: bigint) =>
  create(PropertyValueSchema, { value: { case: 'intValue', value } });
const ofText = (value: string) =>
  create(PropertyValueSchema, { value: { case: 'stringValue', value } });

function paid(amount: PropertyValue | undefined, currency?: string) {
  return {
    customProperties: {
      ...(amount && { amount }),
      ...(currency !== undefined && { currency: ofText(currency) }),
    },
  };
}
const texts = (...events: ReturnType<typeof paid>[]) => broughtTexts(events);

it('adds up each currency apart, the one with the most payments first', () => {
  const dollars = paid(ofInt(1_000n), 'USD');
  const euros = [paid(ofDouble(10.5), 'EUR'), paid(ofInt(20n), 'EUR')];
  expect(texts(dollars, ...euros)).toEqual(['30.50 EUR', '1,000 USD']);
  expect(texts(paid(ofInt(1n), 'EUR'), paid(ofInt(1n), 'eur'))).toEqual(['1 EUR', '1 eur']);
  expect(texts(paid(ofInt(3n)))).toEqual(['3 no currency']);
});

it('is exact where numbers of JavaScript are not', () => {
  const tenths = Array.from({ length: 10 }, () => paid(ofDouble(0.1), 'EUR'));
  expect(texts(...tenths)).toEqual(['1 EUR']);
  const most = paid(ofInt(9_007_199_254_740_993n), 'EUR');
  expect(texts(most, paid(ofDouble(0.25), 'EUR'))).toEqual(['9,007,199,254,740,993.25 EUR']);
  expect(texts(paid(ofDouble(1e21), 'EUR'), paid(ofInt(1n), 'EUR'))).toEqual([
    '1,000,000,000,000,000,000,001 EUR',
  ]);
  expect(texts(paid(ofDouble(2.5e-7), 'EUR'), paid(ofInt(2n), 'EUR'))).toEqual(['2.00 EUR']);
});

it('takes refunds off, and rounds to two places', () => {
  expect(texts(paid(ofInt(5n), 'EUR'), paid(ofDouble(-7.125), 'EUR'))).toEqual(['-2.13 EUR']);
  expect(texts(paid(ofInt(5n), 'EUR'), paid(ofInt(-5n), 'EUR'))).toEqual(['0 EUR']);
});

it('knows no payment without a number', () => {
  expect(texts(paid(undefined, 'EUR'), paid(ofText('5'), 'EUR'))).toEqual([]);
  expect(texts(paid(ofDouble(Number.NaN)), paid(ofDouble(Number.POSITIVE_INFINITY)))).toEqual([]);
});

it('writes the decimal texts of the service likewise', () => {
  expect(sumText({ amount: '3001.3', currency: 'EUR' })).toBe('3,001.30 EUR');
  expect(sumText({ amount: '-0.004', currency: 'EUR' })).toBe('0.00 EUR');
  expect(sumText({ amount: '9007199254740993.25' })).toBe('9,007,199,254,740,993.25 no currency');
});
