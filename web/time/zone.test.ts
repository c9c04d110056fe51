import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import {
  dayText,
  learnClock,
  momentOfText,
  startOfDayAt,
  startOfWeekAt,
  wallMs,
  wallText,
} from './zone.ts';

it('follows the clock that the service tells of a zone, and the browser before it', () => {
  const zone = 'America/Vancouver';
  const at = new Date('2026-12-10T12:00Z');
  const springMs = Date.parse('2026-03-08T10:00Z');
  learnClock(zone, [
    { from: timestampFromMs(Date.parse('2020-01-01T00:00Z')), minutes: -480 },
    { from: timestampFromMs(springMs), minutes: -420 },
  ]);
  expect(startOfDayAt(at, zone).toISOString()).toBe('2026-12-10T07:00:00.000Z');
  expect(dayText(new Date('2026-12-10T07:30Z'), zone)).toBe('2026-12-10');
  expect(wallMs(springMs - 1, zone) - (springMs - 1)).toBe(-480 * 60_000);
  const longAgo = Date.parse('2010-07-01T12:00Z');
  expect(wallMs(longAgo, zone) - longAgo).toBe(-420 * 60_000);
});

it('writes a moment as the zone’s clocks show it, and reads it again', () => {
  const zone = 'Europe/Berlin';
  const moment = new Date('2026-07-01T12:34:00Z');
  expect(wallText(moment, zone)).toBe('2026-07-01T14:34');
  expect(momentOfText('2026-07-01T14:34', zone)).toEqual(moment);
  // Clocks leave out 02:00 to 03:00 on this day.
  expect(momentOfText('2026-03-29T02:30', zone)?.toISOString()).toBe('2026-03-29T01:30:00.000Z');
  for (const text of ['', '2026-13-01T00:00', 'tomorrow']) {
    expect(momentOfText(text, zone)).toBeUndefined();
  }
});

it('a week begins on the day that the project names', () => {
  const zone = 'Europe/Berlin';
  // Clocks go back on Sunday the 25th; it is a Monday there.
  const monday = new Date('2026-10-25T23:30:00Z');
  const days = [1, 2, 7].map((weekStart) => dayText(startOfWeekAt(monday, zone, weekStart), zone));
  expect(days).toEqual(['2026-10-26', '2026-10-20', '2026-10-25']);
});
