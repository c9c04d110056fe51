import { create } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import {
  DashboardTimeRangeSchema,
  TimeRangePreset,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { Granularity } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { boardTime, type Range, timeMessage } from './board-time.ts';

const text = ({ fromMs, toMs }: Range): string[] =>
  [fromMs, toMs].map((timeMs) => new Date(timeMs).toISOString().replace(':00.000Z', ''));

function times(preset: TimeRangePreset, timezone: string, now: string, weekStart = 1) {
  const timeRange = create(DashboardTimeRangeSchema, { range: { case: 'preset', value: preset } });
  const fields = { timeRange, granularity: Granularity.UNSPECIFIED, timezone, weekStart };
  const { range, previous, granularity } = boardTime(fields, Date.parse(now));
  return [...text(range), ...text(previous), Granularity[granularity]];
}

const {
  TODAY,
  YESTERDAY,
  LAST_24_HOURS,
  LAST_7_DAYS,
  LAST_30_DAYS,
  LAST_90_DAYS,
  LAST_12_MONTHS,
  THIS_WEEK,
  LAST_WEEK,
  THIS_MONTH,
  LAST_MONTH,
  THIS_YEAR,
} = TimeRangePreset;

// A Wednesday.
const now = '2026-07-15T10:20:30Z';

it.each([
  [TODAY, '2026-07-15T00:00', '2026-07-15T10:21', '2026-07-14T00:00', '2026-07-14T10:21', 'HOUR'],
  [
    YESTERDAY,
    '2026-07-14T00:00',
    '2026-07-15T00:00',
    '2026-07-13T00:00',
    '2026-07-14T00:00',
    'HOUR',
  ],
  [
    LAST_24_HOURS,
    '2026-07-14T10:21',
    '2026-07-15T10:21',
    '2026-07-13T10:21',
    '2026-07-14T10:21',
    'HOUR',
  ],
  [
    LAST_7_DAYS,
    '2026-07-09T00:00',
    '2026-07-15T10:21',
    '2026-07-02T00:00',
    '2026-07-08T10:21',
    'DAY',
  ],
  [
    LAST_30_DAYS,
    '2026-06-16T00:00',
    '2026-07-15T10:21',
    '2026-05-17T00:00',
    '2026-06-15T10:21',
    'DAY',
  ],
  [
    LAST_90_DAYS,
    '2026-04-17T00:00',
    '2026-07-15T10:21',
    '2026-01-17T00:00',
    '2026-04-16T10:21',
    'DAY',
  ],
  [
    LAST_12_MONTHS,
    '2025-08-01T00:00',
    '2026-07-15T10:21',
    '2024-08-01T00:00',
    '2025-07-15T10:21',
    'MONTH',
  ],
  [
    THIS_WEEK,
    '2026-07-13T00:00',
    '2026-07-15T10:21',
    '2026-07-06T00:00',
    '2026-07-08T10:21',
    'DAY',
  ],
  [
    LAST_WEEK,
    '2026-07-06T00:00',
    '2026-07-13T00:00',
    '2026-06-29T00:00',
    '2026-07-06T00:00',
    'DAY',
  ],
  [
    THIS_MONTH,
    '2026-07-01T00:00',
    '2026-07-15T10:21',
    '2026-06-01T00:00',
    '2026-06-15T10:21',
    'DAY',
  ],
  [
    LAST_MONTH,
    '2026-06-01T00:00',
    '2026-07-01T00:00',
    '2026-05-01T00:00',
    '2026-06-01T00:00',
    'DAY',
  ],
  [
    THIS_YEAR,
    '2026-01-01T00:00',
    '2026-07-15T10:21',
    '2025-01-01T00:00',
    '2025-07-15T10:21',
    'WEEK',
  ],
])('preset %i in UTC', (preset, ...wanted) => {
  expect(times(preset, 'UTC', now)).toEqual(wanted);
});

// It is a Wednesday.
it.each([
  [7, '2026-07-12T00:00', '2026-07-05T00:00', '2026-06-28T00:00'],
  [6, '2026-07-11T00:00', '2026-07-04T00:00', '2026-06-27T00:00'],
  [3, '2026-07-15T00:00', '2026-07-08T00:00', '2026-07-01T00:00'],
  [4, '2026-07-09T00:00', '2026-07-02T00:00', '2026-06-25T00:00'],
])('weeks that begin on day %i', (weekStart, first, before, earlier) => {
  const [from, to, previousFrom] = times(THIS_WEEK, 'UTC', now, weekStart);
  expect([from, to, previousFrom]).toEqual([first, '2026-07-15T10:21', before]);
  expect(times(LAST_WEEK, 'UTC', now, weekStart).slice(0, 4)).toEqual([
    ...[before, first, earlier, before],
  ]);
});

it('follows the calendar of the zone, daylight saving and half hours included', () => {
  expect(times(TODAY, 'Asia/Kolkata', now).slice(0, 2)).toEqual([
    '2026-07-14T18:30',
    '2026-07-15T10:21',
  ]);
  // The clock went forward on 29 March: seven days of the calendar, one of them of 23 hours.
  expect(times(LAST_7_DAYS, 'Europe/Berlin', '2026-03-30T10:00:00Z')).toEqual([
    '2026-03-23T23:00',
    '2026-03-30T10:00',
    '2026-03-16T23:00',
    '2026-03-23T10:00',
    'DAY',
  ]);
  // A day whose midnight the clock skipped begins at one.
  expect(times(TODAY, 'America/Sao_Paulo', '2018-11-04T12:00:00Z').slice(0, 3)).toEqual([
    '2018-11-04T03:00',
    '2018-11-04T12:00',
    '2018-11-03T03:00',
  ]);
});

it('ends the period before where this one began, however long this one is', () => {
  expect(times(THIS_MONTH, 'UTC', '2026-03-31T12:00:00Z')).toEqual([
    '2026-03-01T00:00',
    '2026-03-31T12:00',
    '2026-02-01T00:00',
    '2026-03-01T00:00',
    'DAY',
  ]);
});

it('has a range at the first moment of a day', () => {
  expect(times(TODAY, 'UTC', '2026-07-15T00:00:00Z').slice(0, 2)).toEqual([
    '2026-07-15T00:00',
    '2026-07-15T00:01',
  ]);
});

it.each([
  // The clock went forward on 29 March: that day had 23 hours.
  ['2026-03-28T23:00', '2026-03-29T22:00', '2026-03-27T23:00'],
  ['2026-03-29T22:00', '2026-04-05T22:00', '2026-03-22T23:00'],
  // Not whole days: an hour for an hour.
  ['2026-03-29T22:00', '2026-03-30T10:00', '2026-03-29T10:00'],
])('sets as much of the calendar before %s to %s', (fromText, toText, previousText) => {
  const [from, to] = [fromText, toText].map((time) => timestampFromMs(Date.parse(`${time}Z`)));
  const timeRange = create(DashboardTimeRangeSchema, {
    range: { case: 'fixed', value: { from, to } },
  });
  const fields = {
    timeRange,
    granularity: Granularity.DAY,
    timezone: 'Europe/Berlin',
    weekStart: 1,
  };
  const time = boardTime(fields, 0);
  expect([...text(time.range), ...text(time.previous)]).toEqual([
    ...[fromText, toText],
    ...[previousText, fromText],
  ]);
});

it('sets the same length before a fixed range, and keeps a given granularity', () => {
  const [from, to] = ['2026-07-01T00:00:00Z', '2026-07-03T00:00:00Z'].map((time) =>
    timestampFromMs(Date.parse(time)),
  );
  const timeRange = create(DashboardTimeRangeSchema, {
    range: { case: 'fixed', value: { from, to } },
  });
  const fields = { timeRange, granularity: Granularity.WEEK, timezone: 'UTC', weekStart: 1 };
  const time = boardTime(fields, 0);
  expect(text(time.previous)).toEqual(['2026-06-29T00:00', '2026-07-01T00:00']);
  expect(time.granularity).toBe(Granularity.WEEK);
});

it.each([
  ['0001-01-01T00:00:00Z', '0003-01-01T00:00:00Z'],
  ['2199-01-01T00:00:00Z', '2200-01-01T00:00:01Z'],
])('refuses %s to %s, which has no range before it that can be written', (...ends) => {
  const [from, to] = ends.map((time) => timestampFromMs(Date.parse(time)));
  const timeRange = create(DashboardTimeRangeSchema, {
    range: { case: 'fixed', value: { from, to } },
  });
  const fields = { timeRange, granularity: Granularity.DAY, timezone: 'UTC', weekStart: 1 };
  expect(() => boardTime(fields, 0)).toThrow('timeRange.fixed: must lie between 1970 and 2200');
});

it('refuses buckets of no known length', () => {
  const fields = { timeRange: undefined, granularity: 99, timezone: 'UTC', weekStart: 1 };
  expect(() => boardTime(fields, 0)).toThrow('granularity: 99 is not a granularity');
});

it('refuses a zone that is none', () => {
  const fields = {
    timeRange: undefined,
    granularity: Granularity.DAY,
    timezone: 'Mars/Olympus',
    weekStart: 1,
  };
  expect(() => boardTime(fields, 0)).toThrow(
    expect.objectContaining({ code: Code.InvalidArgument }),
  );
});

it('a day whose midnight comes twice begins at the first', () => {
  const [azores, first, second] = ['Atlantic/Azores', '2026-10-25T00:00', '2026-10-26T01:00'];
  expect(times(TODAY, azores, '2026-10-25T12:00:00Z').slice(0, 2)).toEqual([
    ...[first, '2026-10-25T12:00'],
  ]);
  expect(times(YESTERDAY, azores, '2026-10-26T12:00:00Z').slice(0, 2)).toEqual([first, second]);
  expect(times(LAST_7_DAYS, azores, '2026-10-31T12:00:00Z')[0]).toBe(first);
});

it('tells pages the clock of its zone, by the rules that count here', () => {
  const fields = {
    timeRange: undefined,
    granularity: Granularity.DAY,
    timezone: 'america/vancouver',
    weekStart: 1,
  };
  const { clock, timezone, weekStart } = timeMessage(
    boardTime(fields, Date.parse('2026-12-10T12:00Z')),
  );
  expect(weekStart).toBe(1);
  // Vancouver's clock goes back no more after March 2026: rules that browsers may not have.
  const last = clock.at(-1);
  expect([timezone, last?.minutes, last?.from && timestampMs(last.from)]).toEqual([
    ...['America/Vancouver', -420, Date.parse('2026-03-08T10:00Z')],
  ]);
});
