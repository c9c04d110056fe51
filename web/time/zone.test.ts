import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { dayText, learnClock, startOfDayAt, wallMs } from './zone.ts';

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
