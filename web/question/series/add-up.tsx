// Whether a number is added up over the buckets of a question.

import {
  AggregationType,
  type InsightQuerySpec,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Check } from '../../fields/field.tsx';

type Fields = {
  spec: InsightQuerySpec;
  onChange: (changes: Partial<InsightQuerySpec>) => void;
};

export function AddUp({ spec, onChange }: Fields) {
  return (
    <Check
      label="Add up from the beginning of the range"
      checked={spec.cumulative}
      onValue={(cumulative) => onChange({ cumulative })}
    />
  );
}

/** Means and extremes of several buckets are none of them together, and groups are counted bucket by bucket. */
export function AddUpTrend({ spec, onChange }: Fields) {
  const { UNIQUE_USERS, SUM } = AggregationType;
  const mayAddUp =
    spec.breakdowns.length === 0 &&
    spec.events.some(({ aggregation }) => aggregation <= UNIQUE_USERS || aggregation === SUM);
  return mayAddUp || spec.cumulative ? <AddUp spec={spec} onChange={onChange} /> : null;
}
