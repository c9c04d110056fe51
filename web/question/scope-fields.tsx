// Which events are meant: a kind, and conditions on them. And which property of them.

import { create } from '@bufbuild/protobuf';
import { type EventFilter, EventFilterSchema } from '../../proto/gen/common/v1/filter_pb.js';
import { PropertyValueType } from '../../proto/gen/common/v1/filter_schema_pb.js';
import { AggregationType } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { Combo } from '../fields/combo.tsx';
import { fromPropertyFilter, toPropertyFilter } from '../filter/condition.ts';
import { FilterBar } from '../filter/filter-bar.tsx';
import { propertySuggestions, useSchema } from '../filter/schema.ts';
import { KindFields } from './series/kind-fields.tsx';

export function ScopeFields(props: {
  label: string;
  filtersLabel?: string;
  placeholder?: string;
  scope: EventFilter | undefined;
  isNew?: boolean;
  onChange: (scope: EventFilter) => void;
}) {
  const { label, isNew = false, onChange } = props;
  const scope = props.scope ?? create(EventFilterSchema);
  return (
    <>
      <KindFields
        label={label}
        placeholder={props.placeholder ?? 'Any event'}
        scope={scope}
        isNew={isNew}
        onChange={(kinds) => onChange({ ...scope, ...kinds })}
      />
      <FilterBar
        label={props.filtersLabel ?? `${label}: filters`}
        conditions={scope.filters.map(fromPropertyFilter)}
        onChange={(next) => onChange({ ...scope, filters: next.map(toPropertyFilter) })}
      />
    </>
  );
}

/** Any property of events or of their profiles. */
export function PropertyField(props: {
  label: string;
  value: string;
  isNew?: boolean;
  onValue: (property: string) => void;
}) {
  const { data } = useSchema();
  return <Combo {...props} suggestions={propertySuggestions(data, 'events')} />;
}

/** The property that an aggregation reads: of numbers, but where it counts different values. */
export function MeasuredPropertyField({
  aggregation,
  ...props
}: Parameters<typeof NumberPropertyField>[0] & { aggregation: AggregationType }) {
  if (aggregation !== AggregationType.DISTINCT_VALUES) return <NumberPropertyField {...props} />;
  return <PropertyField label={props.label ?? 'Property'} {...props} />;
}

/** A property of the events of a kind that has numbers. */
export function NumberPropertyField(props: {
  label?: string;
  placeholder?: string;
  kind: string;
  value: string;
  onValue: (property: string) => void;
}) {
  const { kind, ...rest } = props;
  const { data } = useSchema(kind);
  const numbers = data && {
    ...data,
    properties: data.properties.filter(({ types }) =>
      types.some((type) => type === PropertyValueType.INTEGER || type === PropertyValueType.FLOAT),
    ),
  };
  return <Combo label="Property" {...rest} suggestions={propertySuggestions(numbers, 'events')} />;
}
