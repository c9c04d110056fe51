// When a report is due, and about which days: short months, weeks, and clocks that are put forward and back.

import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  ReportFrequency,
  ReportScheduleSchema,
} from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { countDue, type DueSchedule, lastDue, nextDue, periodOf } from './report-schedule.ts';

const { DAILY, WEEKLY, MONTHLY } = ReportFrequency;
const schedule = (fields: Partial<DueSchedule>): DueSchedule =>
  create(ReportScheduleSchema, { frequency: DAILY, hour: 8, ...fields });
const text = (ms: number): string => new Date(ms).toISOString();

/** The next occasions after a moment. */
function occasions(asked: DueSchedule, zone: string, after: string, count: number): string[] {
  const found: string[] = [];
  let ms = Date.parse(after);
  while (found.length < count) {
    ms = nextDue(asked, zone, ms).dueMs;
    expect(lastDue(asked, zone, ms).dueMs).toBe(ms);
    found.push(text(ms));
  }
  return found;
}

describe('a report is due', () => {
  it('each day once, where the clock leaves its hour out and where it comes twice', () => {
    const two = schedule({ hour: 2 });
    expect(occasions(two, 'Europe/Berlin', '2026-03-27T12:00:00Z', 3)).toEqual([
      ...['2026-03-28T01:00:00.000Z', '2026-03-29T01:00:00.000Z', '2026-03-30T00:00:00.000Z'],
    ]);
    expect(occasions(two, 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      ...['2026-10-25T00:00:00.000Z', '2026-10-26T01:00:00.000Z'],
    ]);
  });

  it('at midnight, though the clock leaves it out', () => {
    // The clock goes from 23:59 on 4 April 2026 to midnight, and back an hour on 6 September (Chile).
    const midnight = schedule({ hour: 0 });
    expect(occasions(midnight, 'America/Santiago', '2026-09-04T12:00:00Z', 3)).toEqual([
      ...['2026-09-05T04:00:00.000Z', '2026-09-06T04:00:00.000Z', '2026-09-07T03:00:00.000Z'],
    ]);
    expect(occasions(midnight, 'America/Santiago', '2026-04-03T12:00:00Z', 2)).toEqual([
      ...['2026-04-04T03:00:00.000Z', '2026-04-05T04:00:00.000Z'],
    ]);
  });

  it('not on a day that the calendar leaves out', () => {
    // Samoa went from 29 to 31 December 2011.
    const due = occasions(schedule({ hour: 8 }), 'Pacific/Apia', '2011-12-28T12:00:00Z', 3);
    expect(due).toEqual([
      ...['2011-12-28T18:00:00.000Z', '2011-12-29T18:00:00.000Z', '2011-12-30T18:00:00.000Z'],
    ]);
  });

  it('on its weekday, and on the last day of a month that is too short', () => {
    const sunday = schedule({ frequency: WEEKLY, weekday: 7, hour: 0 });
    expect(occasions(sunday, 'UTC', '2026-07-05T00:00:00Z', 2)).toEqual([
      ...['2026-07-12T00:00:00.000Z', '2026-07-19T00:00:00.000Z'],
    ]);
    const last = schedule({ frequency: MONTHLY, dayOfMonth: 31 });
    expect(occasions(last, 'UTC', '2027-12-31T09:00:00Z', 4)).toEqual([
      ...['2028-01-31T08:00:00.000Z', '2028-02-29T08:00:00.000Z', '2028-03-31T08:00:00.000Z'],
      '2028-04-30T08:00:00.000Z',
    ]);
  });

  it('so many times between two moments', () => {
    const between = { afterMs: Date.parse('2026-07-01T08:00:00Z'), max: 1_000 };
    const beforeMs = Date.parse('2026-07-05T08:00:00Z');
    expect(countDue(schedule({}), 'UTC', { ...between, beforeMs })).toBe(3);
    expect(countDue(schedule({}), 'UTC', { ...between, beforeMs, max: 2 })).toBe(2);
  });
});

type Period = [ReportFrequency, due: string, wanted: string[], weekStart?: number];
it.each<Period>([
  [DAILY, '2026-03-30', ['2026-03-27T23:00', '2026-03-28T23:00', '2026-03-29T22:00']],
  // A Wednesday: the week from Monday to Sunday before.
  [WEEKLY, '2026-04-01', ['2026-03-15T23:00', '2026-03-22T23:00', '2026-03-29T22:00']],
  // From Sunday to Saturday, from Wednesday to Tuesday, and from Thursday to the Wednesday of the week before.
  [WEEKLY, '2026-04-01', ['2026-03-14T23:00', '2026-03-21T23:00', '2026-03-28T23:00'], 7],
  [WEEKLY, '2026-04-01', ['2026-03-17T23:00', '2026-03-24T23:00', '2026-03-31T22:00'], 3],
  [WEEKLY, '2026-04-01', ['2026-03-11T23:00', '2026-03-18T23:00', '2026-03-25T23:00'], 4],
  [MONTHLY, '2026-03-31', ['2025-12-31T23:00', '2026-01-31T23:00', '2026-02-28T23:00']],
])('the period of %s that is due on %s', (frequency, date, wanted, weekStart = 1) => {
  const day = Date.parse(date) / 86_400_000;
  const { previousFromMs, fromMs, toMs } = periodOf(
    schedule({ frequency }),
    { timezone: 'Europe/Berlin', weekStart },
    day,
  );
  const ends = [previousFromMs, fromMs, toMs].map((ms) => text(ms).slice(0, 16));
  expect(ends).toEqual(wanted);
});
