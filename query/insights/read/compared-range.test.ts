// The period before a range, on the clock of a zone.

import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import {
  Compare,
  InsightQuerySpecSchema,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { comparedRange } from './compared-range.ts';

const { PREVIOUS_PERIOD, PREVIOUS_WEEK, PREVIOUS_MONTH, PREVIOUS_YEAR } = Compare;

function before(compare: Compare, from: string, to: string, now = '2030-01-01T00:00Z') {
  const spec = create(InsightQuerySpecSchema, { compare });
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  const range = comparedRange({ spec, timezone: 'Europe/Berlin', fromMs, toMs }, Date.parse(now));
  return range && [range.fromMs, range.toMs].map((ms) => new Date(ms).toISOString().slice(0, 16));
}

it.each([
  // The clock goes forward on 29 March: that day has 23 hours, and the one before it 24.
  [
    PREVIOUS_PERIOD,
    '2026-03-28T23:00Z',
    '2026-03-29T22:00Z',
    '2026-03-27T23:00',
    '2026-03-28T23:00',
  ],
  [
    PREVIOUS_PERIOD,
    '2026-03-29T22:00Z',
    '2026-03-30T22:00Z',
    '2026-03-28T23:00',
    '2026-03-29T22:00',
  ],
  [
    PREVIOUS_PERIOD,
    '2026-10-25T23:00Z',
    '2026-11-01T23:00Z',
    '2026-10-18T22:00',
    '2026-10-25T23:00',
  ],
  [
    PREVIOUS_PERIOD,
    '2026-05-01T10:00Z',
    '2026-05-01T13:30Z',
    '2026-05-01T06:30',
    '2026-05-01T10:00',
  ],
  [PREVIOUS_WEEK, '2026-03-30T22:00Z', '2026-03-31T22:00Z', '2026-03-23T23:00', '2026-03-24T23:00'],
  [
    PREVIOUS_MONTH,
    '2026-02-28T23:00Z',
    '2026-03-31T22:00Z',
    '2026-01-31T23:00',
    '2026-02-28T23:00',
  ],
  [
    PREVIOUS_MONTH,
    '2026-03-29T22:00Z',
    '2026-03-30T22:00Z',
    '2026-02-27T23:00',
    '2026-02-28T23:00',
  ],
  [PREVIOUS_YEAR, '2024-02-28T23:00Z', '2024-02-29T23:00Z', '2023-02-27T23:00', '2023-02-28T23:00'],
  // 366 days come before these 365.
  [PREVIOUS_YEAR, '2024-12-31T23:00Z', '2025-12-31T23:00Z', '2023-12-31T23:00', '2024-12-30T23:00'],
])('%i of %s to %s', (compare, from, to, fromBefore, toBefore) => {
  expect(before(compare, from, to)).toEqual([fromBefore, toBefore]);
});

it('ends as far as the range has come, by whole minutes', () => {
  const day = ['2026-05-03T22:00Z', '2026-05-04T22:00Z'] as const;
  const now = '2026-05-04T08:15:20Z';
  expect(before(PREVIOUS_PERIOD, ...day, now)).toEqual(['2026-05-02T22:00', '2026-05-03T08:16']);
  expect(before(PREVIOUS_YEAR, ...day, now)).toEqual(['2025-05-03T22:00', '2025-05-04T08:16']);
  const early = '2026-05-01T00:00Z';
  expect(before(PREVIOUS_WEEK, ...day, early)).toEqual(['2026-04-26T22:00', '2026-04-26T22:01']);
});

it('refuses what it does not know, and a time before 1970', () => {
  const day = ['1970-01-01T00:00Z', '1970-01-01T23:00Z'] as const;
  expect(() => before(PREVIOUS_WEEK, ...day)).toThrow('spec.compare: asks for a time before 1970');
  expect(() => before(9 as Compare, ...day)).toThrow('spec.compare: 9 is not known');
  expect(before(Compare.UNSPECIFIED, ...day)).toBeUndefined();
});
