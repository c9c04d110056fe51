// The question about visits: how many a day, how long they are, and how many see one page only.

import { dayMs } from '../../../platform/clock.ts';
import { listOf, numberOf, secondsOf } from './answers.ts';
import { type Question, within } from './question.ts';

const metrics = ['SESSIONS', 'AVG_DURATION', 'BOUNCE_RATE'] as const;

export const visitQuestions: readonly Question[] = [
  {
    name: 'visits, duration and bounce rate',
    ...{ askedMs: 120, byRollup: true, days: 30 },
    queries: metrics.map((metric) => ({
      granularity: 'GRANULARITY_DAY',
      spec: { insightType: 'INSIGHT_TYPE_TRENDS', session: { metric: `SESSION_METRIC_${metric}` } },
    })),
    sql: (layout, asked) => {
      const wide = {
        fromMs: (Math.floor(asked.fromMs / dayMs) - 1) * dayMs,
        toMs: (Math.ceil(asked.toMs / dayMs) + 1) * dayMs,
      };
      const { kind, time } = layout;
      const days = `SELECT ${layout.session} AS session, toDate(${time}) AS day, toDateTime64(min(${time}), 3) AS first,
          toDateTime64(max(${time}), 3) AS last, count() AS events, countIf(${kind} = 'page_view') AS views
        FROM ${layout.from} WHERE ${within(layout, wide)} GROUP BY session, day`;
      // A session's days in order; a visit has the day on which it begins and the next one.
      const visits = `SELECT own.2 AS first, if(next.1 = own.1 + 1, next.3, own.3) AS last,
          if(next.1 = own.1 + 1, own.4 + next.4, own.4) AS events, if(next.1 = own.1 + 1, own.5 + next.5, own.5) AS views
        FROM (SELECT arraySort(groupArray((day, first, last, events, views))) AS days FROM (${days}) GROUP BY session)
        ARRAY JOIN days AS own, arrayShiftRight(days, 1) AS before, arrayShiftLeft(days, 1) AS next
        WHERE before.1 != own.1 - 1`;
      return `SELECT toUnixTimestamp(toStartOfDay(first, '${asked.timezone}')) AS day, count(),
          avg(toUnixTimestamp64Milli(last) - toUnixTimestamp64Milli(first)) / 1000, avg(events = 1 AND views = 1)
        FROM (${visits})
        WHERE first >= fromUnixTimestamp64Milli(${asked.fromMs}) AND first < fromUnixTimestamp64Milli(${asked.toMs})
        GROUP BY day`;
    },
    rowsOf: (answers) => {
      const [visits, durations, bounces] = answers.map((answer) =>
        listOf(answer, 'trends', 'series').flatMap((series) => listOf(series, 'points')),
      );
      return (visits ?? []).map(({ time, value }, index) => [
        secondsOf(time),
        numberOf(value),
        numberOf(durations?.[index]?.['value']),
        numberOf(bounces?.[index]?.['value']),
      ]);
    },
  },
];
