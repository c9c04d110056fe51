// What a user's payments add up to, for other programs.

import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { ProfileWorthSchema } from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { toCsv } from '../../exports/csv.ts';
import { plainValue } from './value-texts.ts';

const worthOf = (...lifetimeValue: { amount: string; currency?: string }[]) =>
  create(ProfileWorthSchema, { lifetimeValue });

it('is exact, with the currency first', () => {
  const euros = { amount: '9007199254740993.25', currency: 'EUR' };
  const dollars = { amount: '1200', currency: 'USD' };
  expect(plainValue(worthOf(euros, dollars))).toBe('EUR 9007199254740993.25; USD 1200');
  expect(plainValue(worthOf())).toBe('');
  expect(plainValue(undefined)).toBe('');
  expect(plainValue(create(ProfileWorthSchema, { hasTooManyPayments: true }))).toBe(
    'More than 5,000 payments',
  );
});

it.each([
  ['EUR -5.25', [{ amount: '-5.25', currency: 'EUR' }]],
  ['-5.25', [{ amount: '-5.25' }]],
  ['EUR 3; -5.25', [{ amount: '-5.25' }, { amount: '3', currency: 'EUR' }]],
])('is no formula in CSV, a refund too: %s', (text, sums) => {
  const rows = [[plainValue(worthOf(...sums))]];
  expect(toCsv({ columns: ['Lifetime value'], rows })).toBe(`Lifetime value\r\n${text}`);
});
