// SEGMENTATION: one value of each series and group over the whole range.

import { create } from '@bufbuild/protobuf';
import { SegmentationResultSchema } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Question } from '../../read/question.ts';
import type { Plan } from '../plan.ts';
import { readSeries, type SeriesGroup } from './series.ts';
import { planSeries } from './series-plan.ts';

/** Throws invalid_argument. */
export function planSegmentation(question: Question): Plan {
  const series = readSeries(question);
  const plan = planSeries(question, series, { withTotal: true });
  return {
    ...plan,
    read: (rows) => {
      const answer = plan.read(rows);
      const value = create(SegmentationResultSchema, {
        total: numberIn(answer.total),
        series: answer.series.flatMap((groups, eventIndex) =>
          groups.map((group) => ({
            eventKind: series[eventIndex]?.kind ?? '',
            eventIndex,
            breakdown: group.breakdown,
            isOthers: group.isOthers,
            value: numberIn(group),
          })),
        ),
      });
      return { result: { case: 'segmentation', value }, leftOut: answer.leftOut };
    },
  };
}

function numberIn(group: SeriesGroup | undefined): number {
  return group?.values.get(0) ?? 0;
}
