// The question about visits: how many a day, how long they are, and how many see one page only.

import { dayMs } from '../../../platform/clock.ts';
import { listOf, numberOf, secondsOf } from './answers.ts';
import { type Question, within } from './question.ts';

const metrics = ['SESSIONS', 'AVG_DURATION', 'BOUNCE_RATE'] as const;

export const visitQuestions: readonly Question[] = [
  {
    name: 'visits, duration and bounce rate',
    ...{ daysAreKept: true, days: 30 },
    queries: metrics.map((metric) => ({
      granularity: 'GRANULARITY_DAY',
      spec: { insightType: 'INSIGHT_TYPE_TRENDS', session: { metric: `SESSION_METRIC_${metric}` } },
    })),
    sql: (layout, asked) => {
      const wide = {
        fromMs: (Math.floor(asked.fromMs / dayMs) - 1) * dayMs,
        toMs: (Math.ceil(asked.toMs / dayMs) + 1) * dayMs,
      };
      const { from, kind, session, time } = layout;
      const near = within(layout, wide);
      const goOn = `SELECT ${session} FROM ${from} WHERE ${near} GROUP BY ${session} HAVING toDate(min(${time})) != toDate(max(${time}))`;
      // An event belongs to the visit that began on its day or on the day before. On the day after it, no visit begins.
      const visits = `SELECT toDateTime64(min(${time}), 3) AS first, toDateTime64(max(${time}), 3) AS last, count() AS events,
          countIf(${kind} = 'page_view') AS views, countIf(${kind} IN ('page_leave', 'scroll', 'error_occurred', 'web_vitals')) AS passive
        FROM ${from} ARRAY JOIN if(${session} IN (${goOn}), [-1, 0, 1], [0]) AS shift
        WHERE ${near} GROUP BY ${session}, toDate(${time}) + shift HAVING max(shift) = 0`;
      return `SELECT toUnixTimestamp(toStartOfDay(first, '${asked.timezone}')) AS day, count(),
          avg(toUnixTimestamp64Milli(last) - toUnixTimestamp64Milli(first)) / 1000, avg(views = 1 AND events = passive + 1)
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
