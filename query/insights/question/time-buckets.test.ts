// The names of time zones, and buckets that are known from earlier questions. The oracle compares all kinds of buckets.

import { ConnectError } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { Granularity } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { readTimezone, timeBuckets } from './time-buckets.ts';

it('a zone has one name, however it is spelled: each name that is used stays in memory', () => {
  const spellings = ['Europe/Berlin', 'europe/berlin', 'EUROPE/bERLIN'];
  expect(new Set(spellings.map(readTimezone))).toEqual(new Set(['Europe/Berlin']));
  expect(readTimezone('aSIA/kOLKATA')).toBe(readTimezone('Asia/Kolkata'));
  expect(readTimezone('')).toBe('UTC');
});

it.each(['+01:00', 'Mars/Olympus', 'UTC\0', 'a'.repeat(1_000_000)])('%.20s is no zone', (name) => {
  expect(() => readTimezone(name)).toThrow(ConnectError);
});

it('buckets that are known are those of their zone and length', () => {
  const from = Date.parse('2026-10-24T22:00:00Z');
  const to = Date.parse('2026-10-27T00:00:00Z');
  const starts = (granularity: Granularity, zone: string): string[] =>
    timeBuckets(granularity, zone, from, to).map((ms) => new Date(ms).toISOString().slice(0, 13));
  for (const _ of ['new', 'known']) {
    // Clocks go back in Berlin: the 25th has 25 hours.
    expect(starts(Granularity.DAY, 'Europe/Berlin')).toEqual([
      ...['2026-10-24T22', '2026-10-25T23', '2026-10-26T23'],
    ]);
    expect(starts(Granularity.DAY, 'Africa/Lagos')).toEqual([
      ...['2026-10-23T23', '2026-10-24T23', '2026-10-25T23', '2026-10-26T23'],
    ]);
    expect(starts(Granularity.DAY, 'Africa/Cairo')).toEqual([
      ...['2026-10-24T21', '2026-10-25T21', '2026-10-26T21'],
    ]);
    expect(starts(Granularity.HOUR, 'Europe/Berlin')).toHaveLength(50);
    expect(starts(Granularity.WEEK, 'Europe/Berlin')).toEqual(['2026-10-18T22', '2026-10-25T23']);
  }
});
