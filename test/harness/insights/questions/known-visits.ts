// Visits whose numbers a reader finds by hand.

import { eventTable } from '../project/event-table.ts';
import { all, type Case, every, range, trend } from './known-case.ts';
import type { Question } from './question.ts';

export const visits = eventTable(
  'visits',
  `2024-08-01T23:59Z ann v1 page_view page=a
   2024-08-02T00:01Z ann v1 page_view page=b
   2024-08-02T09:00Z bob v2 page_view page=a
   2024-08-02T09:00Z cid v3 click     page=c
   2024-08-02T10:00Z bob v4 page_view page=b
   2024-08-02T10:00Z cid v4 click     page=a
   2024-08-03T10:00Z bob v4 page_view page=c
   2024-08-04T08:00Z bob v4 page_view page=d
   2024-08-06T23:30Z bob v4 page_view page=a
   2024-08-08T10:00Z ann v5 page_view page=a
   2024-08-08T10:01Z ann v5 scroll    page=a
   2024-08-08T10:02Z ann v5 error_occurred page=a error_code=e
   2024-08-08T10:03Z ann v5 page_leave page=a
   2024-08-08T10:00Z bob v6 page_view page=a
   2024-08-08T10:01Z bob v6 click     page=a
   2024-08-08T10:02Z bob v6 page_leave page=a
   2024-08-08T10:00Z cid v7 scroll    page=a
   2024-08-09T10:00Z dot v8 click     page=c
   2024-08-09T10:01Z dot v8 page_view page=a
   2024-08-09T10:02Z dot v8 page_view page=b
   2024-08-09T10:03Z dot v8 click     page=c`,
);
const visitsIn = (
  metric: NonNullable<Question['session']>['metric'],
  value: number,
  scope?: string,
): Case => ({
  name: `${metric} of ${scope ?? 'all'} visits`,
  question: {
    type: 'SEGMENTATION',
    session: {
      metric,
      ...(scope && {
        scope: { filters: [{ property: 'page', operator: 'EQUALS', value: scope }] },
      }),
    },
    ...range('2024-08-02T00:00Z', '2024-08-03T00:00Z'),
  },
  result: { segmentation: { total: value, series: [{ ...every, ...all, value }] } },
});
export const sessions: Case[] = [
  // The visit v1 began the day before, and v4 goes on for a day; what the session has on the third day is of no visit.
  visitsIn('SESSIONS', 3),
  visitsIn('SESSIONS', 2, 'a'),
  visitsIn('AVG_DURATION', 28_800),
  visitsIn('BOUNCE_RATE', 1 / 3),
  visitsIn('AVG_EVENTS_PER_SESSION', 5 / 3),
  visitsIn('ENTRY', 1, 'b'),
  visitsIn('EXIT', 2, 'c'),
  {
    name: 'a visit that scrolled, failed and left is a bounce; one that clicked is none, nor is one without a view',
    question: {
      type: 'SEGMENTATION',
      session: { metric: 'BOUNCE_RATE' },
      ...range('2024-08-08T00:00Z', '2024-08-09T00:00Z'),
    },
    result: { segmentation: { total: 1 / 3, series: [{ ...every, ...all, value: 1 / 3 }] } },
  },
  ...(['ENTRY', 'EXIT'] as const).map(
    (metric): Case => ({
      name: `${metric} by page view, whatever comes before and after it`,
      question: {
        type: 'SEGMENTATION',
        session: { metric, scope: { kind: 'page_view' } },
        breakdowns: ['page'],
        ...range('2024-08-08T00:00Z', '2024-08-10T00:00Z'),
      },
      result: {
        segmentation: {
          total: 3,
          series: [
            {
              ...every,
              isOthers: false,
              breakdown: { page: 'a' },
              value: metric === 'ENTRY' ? 3 : 2,
            },
            ...(metric === 'ENTRY'
              ? []
              : [{ ...every, isOthers: false, breakdown: { page: 'b' }, value: 1 }]),
          ],
        },
      },
    }),
  ),
  {
    name: 'visits day by day',
    question: {
      type: 'TRENDS',
      session: { metric: 'AVG_DURATION' },
      ...range('2024-08-01T00:00Z', '2024-08-07T00:00Z'),
    },
    // After a whole day without events, v4 is a new visit.
    result: trend([
      ['2024-08-01T00:00Z', 120],
      ['2024-08-02T00:00Z', 28_800],
      ['2024-08-03T00:00Z', 0],
      ['2024-08-04T00:00Z', 0],
      ['2024-08-05T00:00Z', 0],
      ['2024-08-06T00:00Z', 0],
    ]),
  },
  {
    name: 'visits of a session that is used for days',
    question: {
      type: 'TRENDS',
      session: { metric: 'SESSIONS' },
      ...range('2024-08-02T09:30Z', '2024-08-07T00:00Z'),
    },
    result: trend([
      ['2024-08-02T00:00Z', 1],
      ['2024-08-03T00:00Z', 0],
      ['2024-08-04T00:00Z', 0],
      ['2024-08-05T00:00Z', 0],
      ['2024-08-06T00:00Z', 1],
    ]),
  },
];
