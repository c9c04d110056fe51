// The names of time zones, and buckets that are known from earlier questions. The oracle compares all kinds of buckets.

import { ConnectError } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { Granularity } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { bucketStart, readTimezone, readWeekStart, timeBuckets } from './time-buckets.ts';

it('a zone has one name, however it is spelled: each name that is used stays in memory', () => {
  const spellings = ['Europe/Berlin', 'europe/berlin', 'EUROPE/bERLIN'];
  expect(new Set(spellings.map(readTimezone))).toEqual(new Set(['Europe/Berlin']));
  expect(readTimezone('aSIA/kOLKATA')).toBe(readTimezone('Asia/Kolkata'));
  expect(readTimezone('')).toBe('UTC');
});

it.each(['+01:00', 'Mars/Olympus', 'UTC\0', 'a'.repeat(1_000_000)])('%.20s is no zone', (name) => {
  expect(() => readTimezone(name)).toThrow(ConnectError);
});

it('weeks begin on Monday unless a day is given', () => {
  expect([0, 1, 4, 7].map(readWeekStart)).toEqual([1, 1, 4, 7]);
  for (const day of [-1, 8]) {
    expect(() => readWeekStart(day)).toThrow('weekStart: must be 1 (Monday) to 7 (Sunday)');
  }
});

it('buckets that are known are those of their zone and length', () => {
  const from = Date.parse('2026-10-24T22:00:00Z');
  const to = Date.parse('2026-10-27T00:00:00Z');
  const starts = (granularity: Granularity, zone: string, weekStart = 1): string[] =>
    timeBuckets(granularity, { timezone: zone, weekStart }, from, to).map((ms) =>
      new Date(ms).toISOString().slice(0, 13),
    );
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
    // From Sunday, the day on which clocks go back, and from Saturday.
    expect(starts(Granularity.WEEK, 'Europe/Berlin', 7)).toEqual(['2026-10-24T22']);
    expect(starts(Granularity.WEEK, 'Europe/Berlin', 6)).toEqual(['2026-10-23T22']);
    expect(starts(Granularity.WEEK, 'Europe/Berlin', 2)).toEqual([
      '2026-10-19T22',
      '2026-10-26T23',
    ]);
  }
});

const { DAY, WEEK, MONTH } = Granularity;
it.each([
  // Midnight comes twice.
  [DAY, 'Atlantic/Azores', '2026-10-25T06:00', '2026-10-25T00:00'],
  [DAY, 'Atlantic/Azores', '2026-10-25T01:00', '2026-10-25T00:00'],
  [DAY, 'America/Havana', '2026-11-01T04:59', '2026-11-01T04:00'],
  [MONTH, 'America/Havana', '2026-11-10T12:00', '2026-11-01T04:00'],
  [MONTH, 'America/Havana', '2026-10-31T12:00', '2026-10-01T04:00'],
  // 0:01 becomes 23:01 of the day before.
  [DAY, 'America/St_Johns', '2006-10-29T03:00', '2006-10-29T02:30'],
  [DAY, 'America/St_Johns', '2006-10-29T12:00', '2006-10-29T02:30'],
  [WEEK, 'America/St_Johns', '2006-10-29T02:00', '2006-10-23T02:30'],
  // 24:00 becomes 23:00: no clock has shown the next day yet.
  [DAY, 'Africa/Cairo', '2026-10-29T21:30', '2026-10-28T21:00'],
  [DAY, 'Africa/Cairo', '2026-10-29T22:00', '2026-10-29T22:00'],
  // There is no midnight, and no 30 December.
  [DAY, 'America/Sao_Paulo', '2018-11-04T12:00', '2018-11-04T03:00'],
  [DAY, 'Pacific/Apia', '2011-12-30T12:00', '2011-12-30T10:00'],
])('a bucket of %s in %s begins with its first moment', (granularity, zone, moment, start) => {
  const iso = new Date(
    bucketStart(granularity, { timezone: zone, weekStart: 1 }, Date.parse(`${moment}Z`)),
  ).toISOString();
  expect(iso.slice(0, 16)).toBe(start);
});

it.each([
  // 2:45 becomes 3:45.
  ['Pacific/Chatham', '2026-09-26', ['12:15', '13:15', '14:00', '14:15', '15:15']],
  // 3:45 becomes 2:45.
  ['Pacific/Chatham', '2026-04-04', ['12:15', '13:15', '14:00', '14:15', '15:15']],
  // 2:00 becomes 2:30, and 1:30.
  ['Australia/Lord_Howe', '2026-10-03', ['14:30', '15:30', '16:00', '17:00']],
  ['Australia/Lord_Howe', '2026-04-04', ['13:00', '14:00', '15:00', '15:30', '16:30']],
  // 0:01 becomes 1:01, and 23:01 of the day before.
  ['America/St_Johns', '2006-04-02', ['02:30', '03:30', '03:31', '04:30', '05:30']],
  ['America/St_Johns', '2006-10-29', ['01:30', '02:30', '02:31', '03:30', '04:30']],
])('an hour of %s has one distance from UTC, on %s', (zone, day, times) => {
  const starts = times.map((time) => Date.parse(`${day}T${time}Z`));
  const hoursFrom = (fromMs: number, toMs: number): string[] =>
    timeBuckets(Granularity.HOUR, { timezone: zone, weekStart: 1 }, fromMs, toMs).map((ms) =>
      new Date(ms).toISOString(),
    );
  const all = starts.map((ms) => new Date(ms).toISOString());
  // Every range that begins within finds the same hours.
  for (const [place, startMs] of starts.entries()) {
    for (const fromMs of [startMs, startMs + 1, (starts[place + 1] ?? startMs + 2) - 1]) {
      expect(hoursFrom(fromMs, Math.max(...starts) + 2)).toEqual(all.slice(place));
    }
  }
});
