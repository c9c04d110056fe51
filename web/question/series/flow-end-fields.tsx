// Where the ways of a user flow begin and end.

import { create } from '@bufbuild/protobuf';
import { type EventFilter, EventFilterSchema } from '../../../proto/gen/common/v1/filter_pb.js';
import {
  FlowEndsSchema,
  type InsightQuerySpec,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Check } from '../../fields/field.tsx';
import { ScopeFields } from '../scope-fields.tsx';

export function FlowEndFields(props: {
  spec: InsightQuerySpec;
  onChange: (changes: Partial<InsightQuerySpec>) => void;
}) {
  const { from, to } = props.spec.flow ?? {};
  const put = (from: EventFilter | undefined, to: EventFilter | undefined): void =>
    props.onChange({
      flow:
        from || to
          ? create(FlowEndsSchema, { ...(from && { from }), ...(to && { to }) })
          : undefined,
    });
  return (
    <>
      <End name="Begin with" event={from} onChange={(event) => put(event, to)} />
      <End name="End with" event={to} onChange={(event) => put(from, event)} />
    </>
  );
}

function End(props: {
  name: string;
  event: EventFilter | undefined;
  onChange: (event: EventFilter | undefined) => void;
}) {
  const { name, event, onChange } = props;
  return (
    <>
      <Check
        label={`${name} an event`}
        checked={event !== undefined}
        onValue={(isOn) => onChange(isOn ? create(EventFilterSchema) : undefined)}
      />
      {event ? <ScopeFields label={name} scope={event} onChange={onChange} /> : null}
    </>
  );
}
