// The question as fields. Every change makes a new question; nothing typed is lost where it is refused.

import { type InsightQuerySpec, Touch } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { Check } from '../fields/field.tsx';
import { Group } from '../fields/group.tsx';
import { SegmentBar } from '../filter/segment-bar.tsx';
import { Breakdowns } from './breakdowns.tsx';
import { FilterGroups } from './filter-groups.tsx';
import { formOf } from './forms.ts';
import { OwnFields } from './own/own-fields.tsx';
import { countsUsers } from './series/counts-users.ts';
import { FormulaFields } from './series/formula-fields.tsx';
import { SeriesFields } from './series-fields.tsx';
import '../styles/question.css';

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
        onChange={(events) =>
          change({ events, ...touchOf({ ...spec, events }), ...stepsOf(spec, events.length) })
        }
      />
      {form.hasFormulas ? <FormulaFields spec={spec} onChange={change} /> : null}
      <OwnFields spec={spec} onChange={change} />
      <FilterGroups spec={spec} onChange={change} />
      <Group title="Only users" isUsed={spec.segments.length + spec.notInSegments.length > 0}>
        <SegmentBar chosen={spec} onChange={change} />
        <Check
          label="Count cookieless visitors as users"
          checked={spec.includeCookieless}
          onValue={(includeCookieless) => change({ includeCookieless })}
        />
      </Group>
      {form.hasBreakdowns ? <Breakdowns spec={spec} onChange={change} /> : null}
    </div>
  );
}

/** The first and the last step are none that may be skipped. */
function stepsOf({ funnel }: InsightQuerySpec, count: number): Partial<InsightQuerySpec> {
  if (!funnel || funnel.optionalSteps.every((step) => step < count)) return {};
  const optionalSteps = funnel.optionalSteps.filter((step) => step < count);
  return { funnel: { ...funnel, optionalSteps } };
}

/** Nobody chooses where no series counts users. */
function touchOf(spec: InsightQuerySpec): { touch?: Touch } {
  return countsUsers(spec) ? {} : { touch: Touch.UNSPECIFIED };
}
