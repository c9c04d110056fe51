// TRENDS: the values of each series and group, bucket by bucket.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { TrendsResultSchema } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Question } from '../../read/question.ts';
import type { Plan } from '../plan.ts';
import { readSeries } from './series.ts';
import { planSeries } from './series-plan.ts';

/** Throws invalid_argument. */
export function planTrends(question: Question): Plan {
  const series = readSeries(question);
  const plan = planSeries(question, series, { withTotal: false });
  return {
    ...plan,
    read: (rows) => {
      const answer = plan.read(rows);
      const value = create(TrendsResultSchema, {
        series: answer.series.flatMap((groups, eventIndex) =>
          groups.map(({ breakdown, isOthers, values }) => ({
            eventKind: series[eventIndex]?.kind ?? '',
            eventIndex,
            breakdown,
            isOthers,
            points: pointsOf(question, values),
          })),
        ),
      });
      return { result: { case: 'trends', value }, leftOut: answer.leftOut };
    },
  };
}

/** One point for each bucket, 0 where nothing happened. */
export function pointsOf({ buckets }: Question, values: ReadonlyMap<number, number>) {
  const hasOne = buckets.length === 1;
  return buckets.map((startMs) => ({
    time: timestampFromMs(startMs),
    value: values.get(hasOne ? 0 : startMs) ?? 0,
  }));
}
