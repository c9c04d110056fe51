// Who is in a cohort of a retention question, and when somebody counts as returned.

import { create } from '@bufbuild/protobuf';
import {
  RetentionQuery_First as First,
  type InsightQuerySpec,
  RetentionQuerySchema,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Check, Select } from '../../fields/field.tsx';

const firsts = [
  { value: String(First.IN_RANGE), name: 'By their first event in the range' },
  { value: String(First.EVER), name: 'By their first event ever' },
  { value: String(First.RECURRING), name: 'Each time: by every bucket with an event' },
];

export function RetentionFields(props: {
  spec: InsightQuerySpec;
  onChange: (changes: Partial<InsightQuerySpec>) => void;
}) {
  const retention = props.spec.retention ?? create(RetentionQuerySchema);
  const put = (changes: Partial<typeof retention>): void =>
    props.onChange({ retention: { ...retention, ...changes } });
  return (
    <fieldset class="series">
      <legend>Cohorts</legend>
      <Select
        label="Users begin"
        value={String(retention.first || First.IN_RANGE)}
        options={firsts}
        onValue={(first) => put({ first: Number(first) })}
      />
      <Check
        label="Count who returns later, too (on or after)"
        checked={retention.unbounded}
        onValue={(unbounded) => put({ unbounded })}
      />
      <Check
        label="Days are 24 hours from each user’s own start"
        checked={retention.rolling24h}
        onValue={(rolling24h) => put({ rolling24h })}
      />
    </fieldset>
  );
}
