// What a trend has besides each point alone: sums from the beginning of the range, or means of the points until each.

import {
  AggregationType,
  type InsightQuerySpec,
  InsightType,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Check, Select } from '../../fields/field.tsx';

type Change = (changes: Partial<InsightQuerySpec>) => void;

/** Means and extremes of several buckets are none of them together, and groups are counted bucket by bucket. */
export function AddUpTrend({ spec, onChange }: { spec: InsightQuerySpec; onChange: Change }) {
  const { UNIQUE_USERS, SUM } = AggregationType;
  const mayAddUp =
    spec.breakdowns.length === 0 &&
    spec.events.some(({ aggregation }) => aggregation <= UNIQUE_USERS || aggregation === SUM);
  return (
    <>
      {mayAddUp || spec.cumulative ? <AddUp spec={spec} onChange={onChange} /> : null}
      <AverageField spec={spec} onChange={onChange} />
    </>
  );
}

export function AddUp({ spec, onChange }: { spec: InsightQuerySpec; onChange: Change }) {
  return (
    <Check
      label="Cumulative: add up from the beginning of the range"
      checked={spec.cumulative}
      onValue={(cumulative) =>
        onChange({ cumulative, ...(cumulative ? { movingAverage: 0 } : {}) })
      }
    />
  );
}

/** Of trends, payments, and visits over time. */
export function AverageField({ spec, onChange }: { spec: InsightQuerySpec; onChange: Change }) {
  const { insightType, movingAverage, cumulative, rollingDays, events } = spec;
  const isOverTime = insightType === InsightType.TRENDS || insightType === InsightType.REVENUE;
  const isOfMore = cumulative || rollingDays > 0 || events.some((one) => one.rollingDays > 1);
  // What is asked for already is to be seen, so that it can be taken back.
  if (movingAverage === 0 && (!isOverTime || isOfMore)) return null;
  const counts = [...new Set([3, 7, 14, 28, 30, ...(movingAverage > 0 ? [movingAverage] : [])])];
  return (
    <Select
      label="Moving average"
      value={String(movingAverage)}
      options={[
        { value: '0', name: 'None' },
        ...counts.map((count) => ({ value: String(count), name: `Of ${count} points` })),
      ]}
      onValue={(count) => onChange({ movingAverage: Number(count) })}
    />
  );
}
