// What is measured of a series of payments, and which number of an event is its amount.

import {
  type EventQuery,
  RevenueMeasure,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Select } from '../../fields/field.tsx';
import { NumberPropertyField } from '../scope-fields.tsx';

const measures = [
  { value: String(RevenueMeasure.TOTAL), name: 'Revenue' },
  { value: String(RevenueMeasure.PER_USER), name: 'Revenue per user' },
  { value: String(RevenueMeasure.PER_PAYING_USER), name: 'Revenue per paying user' },
  { value: String(RevenueMeasure.PAYMENTS), name: 'Number of payments' },
];

export function PaymentFields(props: {
  name: string;
  event: EventQuery;
  onChange: (next: EventQuery) => void;
}) {
  const { name, event, onChange } = props;
  return (
    <div class="row">
      <Select
        label={`${name}: value`}
        isLabelHidden
        value={String(event.revenue || RevenueMeasure.TOTAL)}
        options={measures}
        onValue={(revenue) => onChange({ ...event, revenue: Number(revenue) })}
      />
      <NumberPropertyField
        label="Amount"
        placeholder="amount"
        kind={event.event?.kind ?? ''}
        value={event.aggregationProperty}
        onValue={(aggregationProperty) => onChange({ ...event, aggregationProperty })}
      />
    </div>
  );
}
