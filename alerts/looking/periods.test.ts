import { expect, it } from 'vitest';
import { AlertInterval } from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import { lastPeriod, nextEnd, periodBefore } from './periods.ts';

const { FIVE_MINUTES, HOUR, DAY } = AlertInterval;
const texts = ({ fromMs, toMs }: { fromMs: number; toMs: number }) =>
  [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(0, 16));

it.each([
  [FIVE_MINUTES, 'UTC', '10:04:59', '2026-07-01T09:55', '2026-07-01T10:00', '10:05'],
  [FIVE_MINUTES, 'UTC', '10:05:00', '2026-07-01T10:00', '2026-07-01T10:05', '10:10'],
  [HOUR, 'UTC', '10:59:59', '2026-07-01T09:00', '2026-07-01T10:00', '11:00'],
  // Half an hour beside UTC's.
  [HOUR, 'Asia/Kolkata', '10:29:59', '2026-07-01T08:30', '2026-07-01T09:30', '10:30'],
  [HOUR, 'Asia/Kolkata', '10:30:00', '2026-07-01T09:30', '2026-07-01T10:30', '11:30'],
  [HOUR, 'America/St_Johns', '10:30:00', '2026-07-01T09:30', '2026-07-01T10:30', '11:30'],
  [DAY, 'Europe/Berlin', '21:59:59', '2026-06-29T22:00', '2026-06-30T22:00', '22:00'],
])('%s of %s at %s is the period that ended last', (interval, zone, time, from, to, next) => {
  const nowMs = Date.parse(`2026-07-01T${time}Z`);
  expect(texts(lastPeriod(interval, zone, nowMs))).toEqual([from, to]);
  expect(new Date(nextEnd(interval, zone, nowMs)).toISOString().slice(11, 16)).toBe(next);
});

it('has days of 23 and 25 hours, and the period before each', () => {
  const zone = 'Europe/Berlin';
  const spring = lastPeriod(DAY, zone, Date.parse('2026-03-30T12:00Z'));
  expect((spring.toMs - spring.fromMs) / 3_600_000).toBe(23);
  const autumn = lastPeriod(DAY, zone, Date.parse('2026-10-26T12:00Z'));
  expect((autumn.toMs - autumn.fromMs) / 3_600_000).toBe(25);
  expect(texts(periodBefore(DAY, zone, spring))).toEqual(['2026-03-27T23:00', '2026-03-28T23:00']);
  const hour = { fromMs: Date.parse('2026-07-01T10:00Z'), toMs: Date.parse('2026-07-01T11:00Z') };
  expect(texts(periodBefore(HOUR, 'UTC', hour))).toEqual(['2026-07-01T09:00', '2026-07-01T10:00']);
});
