// Means of the buckets that end with each one. The question is planned as if its range began as many buckets earlier,
// with whole ones, so that the first mean is as exact as the last; the earlier buckets are not shown.

import { invalidArgument } from '../../../../platform/http/answers/invalid-argument.ts';
import { minQuestionMs } from '../../../../platform/limits.ts';
import type { Question } from '../../read/question.ts';
import { bucketStart } from '../../read/time-buckets.ts';
import type { AnsweredSeries, ValueGroup } from '../grouped-rows.ts';

const minBuckets = 2;
const maxBuckets = 90;
const field = 'spec.movingAverage';

/** The question with the buckets that its means need before the range. Throws invalid_argument. */
export function withEarlierBuckets(question: Question): Question {
  const { spec, granularity, buckets } = question;
  const { movingAverage: count } = spec;
  if (count === 0) return question;
  if (count < minBuckets || count > maxBuckets) {
    throw invalidArgument(field, `must be from ${minBuckets} to ${maxBuckets}`);
  }
  if (spec.cumulative) throw invalidArgument(field, 'must be 0 where cumulative is set');
  if (spec.rollingDays > 0 || spec.events.some(({ rollingDays }) => rollingDays > 1)) {
    throw invalidArgument(field, 'must be 0 where rollingDays is set');
  }
  const all = [...buckets];
  for (let earlier = 1; earlier < count; earlier += 1) {
    const [firstMs = 0] = all;
    all.unshift(bucketStart(granularity, question, firstMs - 1));
  }
  const [fromMs = 0] = all;
  if (fromMs < minQuestionMs) throw invalidArgument(field, 'asks for a time before 1970');
  return { ...question, fromMs, buckets: all, earlierBuckets: count - 1 };
}

type Mean = [startMs: number, value: number | undefined];

/** The series as they are answered: themselves, or their means. */
export function averagedSeries(
  { buckets, earlierBuckets = 0 }: Question,
  series: readonly AnsweredSeries[],
): readonly AnsweredSeries[] {
  if (earlierBuckets === 0) return series;
  const meansOf = ({ values, ...group }: ValueGroup): ValueGroup => {
    const means = buckets.slice(earlierBuckets).map((startMs, place): Mean => {
      const window = buckets.slice(place, place + earlierBuckets + 1);
      const sum = window.reduce((total, one) => total + (values.get(one) ?? 0), 0);
      // Sums beyond the doubles of both signs have none.
      return [startMs, Number.isNaN(sum) ? undefined : sum / window.length];
    });
    return { ...group, values: new Map(means) };
  };
  return series.map((one) => ({ ...one, groups: one.groups.map(meansOf) }));
}
