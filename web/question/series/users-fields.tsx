// Whether a trend is added up over its buckets.

import {
  AggregationType,
  type InsightQuerySpec,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Check } from '../../fields/field.tsx';

/** Means and extremes of several buckets are none of them together, and groups are counted bucket by bucket. */
export function UsersFields(props: {
  spec: InsightQuerySpec;
  onChange: (changes: Partial<InsightQuerySpec>) => void;
}) {
  const { spec, onChange } = props;
  const { UNIQUE_USERS, SUM } = AggregationType;
  const mayAddUp =
    spec.breakdowns.length === 0 &&
    spec.events.some(({ aggregation }) => aggregation <= UNIQUE_USERS || aggregation === SUM);
  if (!mayAddUp && !spec.cumulative) return null;
  return (
    <Check
      label="Add up from the beginning of the range"
      checked={spec.cumulative}
      onValue={(cumulative) => onChange({ cumulative })}
    />
  );
}
