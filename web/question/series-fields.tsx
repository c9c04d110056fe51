// The events of a question: series of a chart, or steps in order.

import {
  AggregationType,
  type EventQuery,
  type InsightQuerySpec,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { useAdded } from '../fields/added.ts';
import { Select } from '../fields/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { emptyEvent, formOf, needsProperty, type QuestionForm } from './forms.ts';
import { MeasuredPropertyField, ScopeFields } from './scope-fields.tsx';
import { PaymentFields } from './series/payment-fields.tsx';

export const aggregationOptions: readonly { value: string; name: string }[] = [
  { value: String(AggregationType.TOTAL), name: 'Number of events' },
  { value: String(AggregationType.UNIQUE_USERS), name: 'Number of users' },
  { value: String(AggregationType.PER_USER_AVG), name: 'Events per user' },
  { value: String(AggregationType.SUM), name: 'Sum of a property' },
  { value: String(AggregationType.AVG), name: 'Average of a property' },
  { value: String(AggregationType.MIN), name: 'Minimum of a property' },
  { value: String(AggregationType.MAX), name: 'Maximum of a property' },
  { value: String(AggregationType.MEDIAN), name: 'Median of a property' },
  { value: String(AggregationType.P75), name: '75th percentile of a property' },
  { value: String(AggregationType.P90), name: '90th percentile of a property' },
  { value: String(AggregationType.P95), name: '95th percentile of a property' },
  { value: String(AggregationType.P99), name: '99th percentile of a property' },
  { value: String(AggregationType.DISTINCT_VALUES), name: 'Unique values of a property' },
  { value: String(AggregationType.SUM_PER_USER), name: 'Sum of a property per user' },
  { value: String(AggregationType.AVG_PER_USER), name: 'Average of users’ averages' },
];

/** With those of a question that was made elsewhere. */
function windowOptions(days: number): { value: string; name: string }[] {
  const known = [7, 28, 30, 90, ...(days > 1 ? [days] : [])];
  const ofDays = [...new Set(known)].map((count) => ({
    value: String(count),
    name: `The ${count} days until each day`,
  }));
  return [{ value: days === 1 ? '1' : '0', name: 'Each point alone' }, ...ofDays];
}

export function SeriesFields(props: {
  spec: InsightQuerySpec;
  onChange: (events: EventQuery[]) => void;
}) {
  const { spec, onChange } = props;
  const [added, setAdded] = useAdded(spec.events.length);
  const form = formOf(spec);
  const { least, most } = form.events;
  const { events } = spec;
  if (most === 0) return null;
  const put = (index: number, next: EventQuery): void =>
    onChange(events.map((one, at) => (at === index ? next : one)));
  const up = (index: number): void => {
    const next = [...events];
    const [moved] = next.splice(index, 1);
    if (moved) next.splice(index - 1, 0, moved);
    onChange(next);
  };
  return (
    <>
      {events.map((event, index) => (
        <Series
          key={`${index}`}
          form={form}
          index={index}
          event={event}
          isNew={index === added}
          onChange={(next) => put(index, next)}
          {...(events.length > least
            ? { onRemove: () => onChange(events.filter((_, at) => at !== index)) }
            : {})}
          {...(index > 0 && form.id === 'funnel' ? { onUp: () => up(index) } : {})}
        />
      ))}
      {events.length < most ? (
        <button
          type="button"
          class="add"
          onClick={() => {
            setAdded(events.length);
            onChange([...events, emptyEvent()]);
          }}
        >
          <Icon name="plus" />
          {form.id === 'funnel'
            ? 'Add a step'
            : form.id === 'retention'
              ? 'Return with another event'
              : 'Add a series'}
        </button>
      ) : null}
    </>
  );
}

function Series(props: {
  form: QuestionForm;
  index: number;
  event: EventQuery;
  isNew: boolean;
  onChange: (next: EventQuery) => void;
  onRemove?: () => void;
  onUp?: () => void;
}) {
  const { form, index, event, isNew, onChange, onRemove, onUp } = props;
  const name = form.events.nameOf(index);
  return (
    <fieldset class="series">
      <legend>{name}</legend>
      <ScopeFields
        label="Event"
        filtersLabel={`${name}: filters`}
        scope={event.event}
        isNew={isNew}
        onChange={(scope) => onChange({ ...event, event: scope })}
      />
      {form.hasAggregation ? <ValueFields {...{ form, name, event, onChange }} /> : null}
      {form.id === 'revenue' ? <PaymentFields {...{ name, event, onChange }} /> : null}
      <div class="series-tools">
        {onUp ? (
          <button
            type="button"
            class="quiet"
            onClick={onUp}
            aria-label={`Move ${name.toLowerCase()} up`}
          >
            ↑
          </button>
        ) : null}
        {onRemove ? (
          <button
            type="button"
            class="quiet"
            onClick={onRemove}
            aria-label={`Remove ${name.toLowerCase()}`}
          >
            <Icon name="close" />
          </button>
        ) : null}
      </div>
    </fieldset>
  );
}

/** How the events of a series become a number. */
function ValueFields(props: {
  form: QuestionForm;
  name: string;
  event: EventQuery;
  onChange: (next: EventQuery) => void;
}) {
  const { form, name, event, onChange } = props;
  return (
    <>
      <div class="row">
        <Select
          label={`${name}: value`}
          value={String(event.aggregation || AggregationType.TOTAL)}
          options={aggregationOptions}
          onValue={(value) => {
            const aggregation = Number(value);
            const named = needsProperty(aggregation) ? event.aggregationProperty : '';
            const ofUsers = aggregation === AggregationType.UNIQUE_USERS;
            const rollingDays = ofUsers ? event.rollingDays : 0;
            onChange({ ...event, aggregation, aggregationProperty: named, rollingDays });
          }}
        />
        {needsProperty(event.aggregation) ? (
          <MeasuredPropertyField
            aggregation={event.aggregation}
            kind={event.event?.kind ?? ''}
            value={event.aggregationProperty}
            onValue={(aggregationProperty) => onChange({ ...event, aggregationProperty })}
          />
        ) : null}
      </div>
      {form.id === 'trends' && event.aggregation === AggregationType.UNIQUE_USERS ? (
        <Select
          label={`${name}: users of`}
          value={String(event.rollingDays)}
          options={windowOptions(event.rollingDays)}
          onValue={(days) => onChange({ ...event, rollingDays: Number(days) })}
        />
      ) : null}
    </>
  );
}
