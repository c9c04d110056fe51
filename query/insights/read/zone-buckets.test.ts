// The buckets of every time zone from 2000 to 2030 beside a walk through the quarters of an hour, with the clocks as
// the package's own code reads them. Buckets of hours are compared around each change of a clock.
// Takes some 15 seconds.

import moment from 'moment-timezone';
import { expect, it } from 'vitest';
import { zones } from '../../../platform/zones/zones.ts';
import { Granularity } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { bucketStarts } from './time-buckets.ts';

const { HOUR, DAY, WEEK, MONTH } = Granularity;
const dayMs = 86_400_000;
const quarterMs = 900_000;
const [fromMs, toMs] = [Date.UTC(2000, 0), Date.UTC(2031, 0)];

interface Clock {
  /** When it changes, from `fromMs` on, and the minutes west of UTC before each change and after the last. */
  untilMs: number[];
  west: number[];
}

function clockOf(name: string): Clock {
  const zone = moment.tz.zone(name);
  if (zone === null) throw new Error(`no zone ${name}`);
  const first = zone.untils.findIndex((until) => until === null || until > fromMs);
  const untilMs = zone.untils.slice(first).map((until) => until ?? Number.POSITIVE_INFINITY);
  return { untilMs, west: zone.offsets.slice(first) };
}

/** Each quarter of an hour of a range and each change, with the date and time on the wall. */
function walk(
  { untilMs, west }: Clock,
  [startMs, endMs]: [number, number],
  see: (ms: number, wall: number) => void,
) {
  let place = 0;
  for (let ms = startMs; ms < endMs; ) {
    while (ms >= (untilMs[place] ?? Number.POSITIVE_INFINITY)) place += 1;
    see(ms, ms - (west[place] ?? 0) * 60_000);
    const next = (Math.floor(ms / quarterMs) + 1) * quarterMs;
    ms = Math.min(next, untilMs[place] ?? next);
  }
}

type Numbering = (wall: number) => number;
/** 3 January 2000 was a Monday. */
const weeksFrom = (weekStart: number): Numbering => {
  return (wall) => Math.floor((wall - Date.UTC(2000, 0, 2 + weekStart)) / (7 * dayMs));
};
const numberings: readonly [Granularity, Numbering, weekStart?: number][] = [
  [DAY, (wall) => Math.floor(wall / dayMs)],
  ...[1, 7].map((day): [Granularity, Numbering, number] => [WEEK, weeksFrom(day), day]),
  [MONTH, (wall) => new Date(wall).getUTCFullYear() * 12 + new Date(wall).getUTCMonth()],
];

/** When a greater day is on the wall than ever before, with that day. */
function walkedDays(clock: Clock): { startMs: number; wall: number }[] {
  const days: { startMs: number; wall: number }[] = [];
  let last = Number.NEGATIVE_INFINITY;
  walk(clock, [fromMs, toMs], (startMs, wall) => {
    const day = Math.floor(wall / dayMs);
    if (day <= last) return;
    last = day;
    days.push({ startMs, wall: day * dayMs });
  });
  return days;
}

/** Without the first one, which may begin before the walk does. */
function walkedStarts(days: readonly { startMs: number; wall: number }[], number: Numbering) {
  return days.flatMap(({ startMs, wall }, place) => {
    const before = days[place - 1];
    return before !== undefined && number(wall) > number(before.wall) ? [startMs] : [];
  });
}

/** When another hour, or another distance from UTC, is on the wall. */
function walkedHours(clock: Clock, range: [number, number]): number[] {
  const starts: number[] = [];
  let last = '';
  walk(clock, range, (ms, wall) => {
    const hour = `${Math.floor(wall / 3_600_000)} ${wall - ms}`;
    if (hour !== last) starts.push(ms);
    last = hour;
  });
  return starts.slice(1);
}

/** Zones that have had the same clock since 2000 are compared once. */
const unlike = new Map(
  moment.tz.names().map((name) => [JSON.stringify(clockOf(name)), name] as const),
);

it('knows every zone of the package', () => {
  expect(unlike.size).toBeGreaterThan(150);
  const names = moment.tz.names();
  expect(names.filter((name) => zones.nameOf(name.toLowerCase()) !== name)).toEqual([]);
});

it('days, weeks and months of all zones begin when a clock first shows them', () => {
  for (const name of unlike.values()) {
    const days = walkedDays(clockOf(name));
    for (const [granularity, number, weekStart = 1] of numberings) {
      const calendar = { timezone: name, weekStart };
      const starts = bucketStarts(granularity, calendar, fromMs, toMs).slice(1);
      const walked = walkedStarts(days, number);
      // Numbers by place: a list of 11,000 is not worth a message.
      const place = walked.findIndex((startMs, index) => starts[index] !== startMs);
      expect([name, granularity, starts.length, place, walked[place]]).toEqual([
        ...[name, granularity, walked.length, -1, undefined],
      ]);
    }
  }
});

it('hours of all zones around each change of a clock are those on the wall', () => {
  let changes = 0;
  for (const name of unlike.values()) {
    const clock = clockOf(name);
    for (const changeMs of clock.untilMs.filter((ms) => ms < toMs)) {
      const startMs = Math.floor(changeMs / quarterMs) * quarterMs - 20 * quarterMs;
      const range: [number, number] = [startMs, startMs + 40 * quarterMs];
      expect(bucketStarts(HOUR, { timezone: name, weekStart: 1 }, ...range).slice(1)).toEqual(
        walkedHours(clock, range),
      );
      changes += 1;
    }
  }
  expect(changes).toBeGreaterThan(3_000);
});
