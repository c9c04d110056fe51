// The mark before the value of a group.

import type { InsightQuerySpec } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { ValueMark } from '../marks/value-mark.tsx';

/**
 * `value`: undefined for the group without one. Visits without a source are direct; of events without one nothing is
 * known, and they have an empty place.
 */
export function GroupMark(props: {
  spec: InsightQuerySpec;
  property: string;
  value: string | undefined;
}) {
  const { spec, property, value } = props;
  return <ValueMark property={property} value={value ?? (spec.session ? undefined : '')} />;
}
