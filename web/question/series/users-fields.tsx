// Whether users are added up over the buckets of a trend.

import {
  AggregationType,
  type InsightQuerySpec,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Check } from '../../fields/field.tsx';

/** Only users can be counted once for several buckets. */
export function UsersFields(props: {
  spec: InsightQuerySpec;
  onChange: (changes: Partial<InsightQuerySpec>) => void;
}) {
  const { spec, onChange } = props;
  const isOfUsers = spec.events.some(
    ({ aggregation }) => aggregation === AggregationType.UNIQUE_USERS,
  );
  if (!isOfUsers && !spec.cumulative) return null;
  return (
    <Check
      label="Add up users from the beginning of the range"
      checked={spec.cumulative}
      onValue={(cumulative) => onChange({ cumulative })}
    />
  );
}
