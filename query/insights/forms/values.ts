// TRENDS and SEGMENTATION: the values of each series and group, bucket by bucket or over the whole range. They count
// events, users or visits.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  SegmentationResultSchema,
  TrendsResultSchema,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { incompleteFrom } from '../read/incomplete.ts';
import type { Question } from '../read/question.ts';
import type { ValueGroup, Values } from './grouped-rows.ts';
import type { Plan } from './plan.ts';
import { planSeries } from './series/series-plan.ts';
import { planSessions } from './visits/sessions.ts';

type Incomplete = ReturnType<typeof incompleteFrom>;

/** Throws invalid_argument. */
export function planTrends(question: Question): Plan {
  return planValues(question, false, (answer, incomplete) => {
    const series = seriesOf(answer, ({ values }) => ({
      ...{ points: pointsOf(question, values), ...incomplete },
    }));
    return { case: 'trends', value: create(TrendsResultSchema, { series }) };
  });
}

/** Throws invalid_argument. */
export function planSegmentation(question: Question): Plan {
  return planValues(question, true, (answer) => {
    const series = seriesOf(answer, ({ values }) => shownValue(values, 0));
    const value = create(SegmentationResultSchema, { total: answer.total, series });
    return { case: 'segmentation', value };
  });
}

function planValues(
  question: Question,
  withTotal: boolean,
  resultOf: (answer: Values, incomplete: Incomplete) => ReturnType<Plan['read']>['result'],
): Plan {
  const isOfVisits = question.spec.session !== undefined;
  const plan = isOfVisits ? planSessions(question) : planSeries(question, withTotal);
  return {
    ...plan,
    read: (rows, untilMs) => {
      const answer = plan.read(rows);
      const incomplete = incompleteFrom(question, untilMs, plan.overMs);
      return { result: resultOf(answer, incomplete), leftOut: answer.leftOut };
    },
  };
}

function seriesOf<T>({ series }: Values, shown: (group: ValueGroup) => T) {
  return series.flatMap(({ kind, eventIndex, formulaIndex, groups }) =>
    groups.map((group) => ({
      ...{ eventKind: kind, eventIndex, breakdown: group.breakdown, isOthers: group.isOthers },
      ...(formulaIndex !== undefined && { formulaIndex }),
      ...shown(group),
    })),
  );
}

/** One point for each bucket, 0 where nothing happened. */
export function pointsOf(question: Question, values: ValueGroup['values']) {
  const { buckets, earlierBuckets } = question;
  const hasOne = buckets.length === 1;
  return buckets.slice(earlierBuckets).map((startMs) => ({
    time: timestampFromMs(startMs),
    ...shownValue(values, hasOne ? 0 : startMs),
  }));
}

/** Without a value where a formula has none. */
function shownValue(values: ValueGroup['values'], cell: number): { value?: number } {
  const value = values.has(cell) ? values.get(cell) : 0;
  return value === undefined ? {} : { value };
}
