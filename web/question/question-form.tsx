// The question as fields. Every change makes a new question; nothing typed is lost where it is refused.

import { create } from '@bufbuild/protobuf';
import {
  BreakdownSchema,
  type InsightQuerySpec,
  Touch,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { Check, Select } from '../fields/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Count } from './count.tsx';
import { FilterGroups } from './filter-groups.tsx';
import { formOf } from './forms.ts';
import { OwnFields } from './own/own-fields.tsx';
import { PropertyField } from './scope-fields.tsx';
import { countsUsers } from './series/counts-users.ts';
import { FormulaFields } from './series/formula-fields.tsx';
import { SeriesFields } from './series-fields.tsx';
import '../styles/question.css';

const maxBreakdowns = 5;

const touches = [
  { value: String(Touch.FIRST), name: 'Their first group' },
  { value: String(Touch.EVERY), name: 'Each group of theirs' },
];

export function QuestionFields(props: {
  spec: InsightQuerySpec;
  onChange: (next: InsightQuerySpec) => void;
}) {
  const { spec } = props;
  const form = formOf(spec);
  const change = (changes: Partial<InsightQuerySpec>): void =>
    props.onChange({ ...spec, ...changes });
  return (
    <div class="question">
      <SeriesFields
        spec={spec}
        onChange={(events) => change({ events, ...touchOf({ ...spec, events }) })}
      />
      {form.hasFormulas ? <FormulaFields spec={spec} onChange={change} /> : null}
      <OwnFields spec={spec} onChange={change} />
      <FilterGroups spec={spec} onChange={change} />
      {form.hasBreakdowns ? <Breakdowns spec={spec} onChange={change} /> : null}
      <Check
        label="Count cookieless visitors as users"
        checked={spec.includeCookieless}
        onValue={(includeCookieless) => change({ includeCookieless })}
      />
    </div>
  );
}

/** Nobody chooses where no series counts users. */
function touchOf(spec: InsightQuerySpec): { touch?: Touch } {
  return countsUsers(spec) ? {} : { touch: Touch.UNSPECIFIED };
}

function Breakdowns(props: {
  spec: InsightQuerySpec;
  onChange: (changes: Partial<InsightQuerySpec>) => void;
}) {
  const { spec, onChange } = props;
  const { breakdowns } = spec;
  const put = (properties: string[]): void =>
    onChange({
      breakdowns: properties.map((property) => create(BreakdownSchema, { property })),
      ...(properties.length === 0 && { touch: Touch.UNSPECIFIED }),
    });
  const names = breakdowns.map(({ property }) => property);
  return (
    <fieldset class="series">
      <legend>Split by</legend>
      {names.map((property, index) => (
        <div class="row tight" key={`${index}`}>
          <PropertyField
            label={`Property ${index + 1}`}
            value={property}
            onValue={(next) => put(names.map((one, at) => (at === index ? next : one)))}
          />
          <button
            type="button"
            class="quiet end-of-field"
            aria-label={`Remove property ${index + 1}`}
            onClick={() => put(names.filter((_, at) => at !== index))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      {names.length > 0 && formOf(spec).hasAggregation && countsUsers(spec) ? (
        <Select
          label="A user counts in"
          value={String(spec.touch || Touch.FIRST)}
          options={touches}
          onValue={(touch) => onChange({ touch: Number(touch) })}
        />
      ) : null}
      {names.length > 0 ? (
        <Count
          label="Groups"
          value={spec.breakdownLimit || 10}
          most={100}
          onValue={(breakdownLimit) => onChange({ breakdownLimit })}
        />
      ) : null}
      {names.length < maxBreakdowns ? (
        <button type="button" class="add" onClick={() => put([...names, ''])}>
          <Icon name="plus" />
          Split by a property
        </button>
      ) : null}
    </fieldset>
  );
}
