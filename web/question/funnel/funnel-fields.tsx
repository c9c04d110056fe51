// What else a chain of a funnel has to be: folded, since most funnels have no use for it.

import { create } from '@bufbuild/protobuf';
import { useState } from 'preact/hooks';
import {
  FunnelExclusionSchema,
  type FunnelQuery,
  FunnelQuerySchema,
  type InsightQuerySpec,
  FunnelQuery_Order as Order,
  FunnelQuery_Reentry as Reentry,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Check, Select } from '../../fields/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { PropertyField } from '../scope-fields.tsx';
import { ExclusionFields } from './exclusion-fields.tsx';

const orders = [
  { value: String(Order.ORDERED), name: 'In their order' },
  { value: String(Order.ANY), name: 'In any order' },
  { value: String(Order.STRICT), name: 'In their order, and nothing between them' },
];

const entries = [
  { value: String(Reentry.EVERY), name: 'Every first step' },
  { value: String(Reentry.FIRST), name: 'The first one alone' },
];

/** As the service has it. */
const maxExclusions = 10;
/** The name by which the visit of an event is held. */
const visit = '$sessionId';

export function FunnelFields(props: {
  spec: InsightQuerySpec;
  onChange: (changes: Partial<InsightQuerySpec>) => void;
}) {
  const { spec, onChange } = props;
  const funnel = spec.funnel ?? create(FunnelQuerySchema);
  // What is asked for already is to be seen; whoever folds it finds it folded.
  const [isOpen] = useState(spec.funnel !== undefined);
  const { order, exclusions, holdProperty } = funnel;
  const put = (changes: Partial<FunnelQuery>): void =>
    onChange({ funnel: { ...funnel, ...changes } });
  return (
    <details class="series data" open={isOpen}>
      <summary>Order, exclusions, over time</summary>
      <Select
        label="Steps follow"
        value={String(order || Order.ORDERED)}
        options={orders}
        onValue={(value) => put(inOrder(funnel, Number(value)))}
      />
      <Select
        label="Begins with"
        value={String(funnel.reentry || Reentry.EVERY)}
        options={entries}
        onValue={(value) => put({ reentry: Number(value) })}
      />
      <OptionalFields spec={spec} onOptional={(optionalSteps) => put({ optionalSteps })} />
      <HeldFields held={holdProperty} onHeld={(property) => put({ holdProperty: property })} />
      <Check
        label="Over time, by the time of the first step"
        checked={funnel.overTime}
        onValue={(overTime) =>
          onChange({
            funnel: { ...funnel, overTime, ...(overTime ? { optionalSteps: [] } : {}) },
            includeStepTiming: spec.includeStepTiming && !overTime,
          })
        }
      />
      {exclusions.map((exclusion, index) => (
        <ExclusionFields
          key={`${index}`}
          {...{ exclusion, index, steps: spec.events.length, isWhole: order === Order.ANY }}
          onChange={(next) =>
            put({ exclusions: exclusions.map((one, at) => (at === index ? next : one)) })
          }
          onRemove={() => put({ exclusions: exclusions.filter((_, at) => at !== index) })}
        />
      ))}
      {exclusions.length < maxExclusions && order !== Order.STRICT ? (
        <button
          type="button"
          class="add"
          onClick={() =>
            put({ exclusions: [...exclusions, create(FunnelExclusionSchema, { event: {} })] })
          }
        >
          <Icon name="plus" />
          Exclude an event
        </button>
      ) : null}
    </details>
  );
}

/** The steps between the first and the last one that a user may skip. */
function OptionalFields(props: { spec: InsightQuerySpec; onOptional: (steps: number[]) => void }) {
  const { events, funnel } = props.spec;
  const { order = Order.ORDERED, overTime = false, optionalSteps = [] } = funnel ?? {};
  if (order > Order.ORDERED || overTime) return null;
  return (
    <>
      {events.slice(1, -1).map((_, index) => {
        const step = index + 2;
        const others = optionalSteps.filter((one) => one !== step);
        return (
          <Check
            key={step}
            label={`Step ${step} may be skipped`}
            checked={optionalSteps.includes(step)}
            onValue={(isSkipped) => props.onOptional(isSkipped ? [...others, step] : others)}
          />
        );
      })}
    </>
  );
}

function HeldFields({ held, onHeld }: { held: string; onHeld: (property: string) => void }) {
  return (
    <>
      <Check
        label="All steps in one visit"
        checked={held === visit}
        onValue={(isVisit) => onHeld(isVisit ? visit : '')}
      />
      {held === visit ? null : (
        <PropertyField label="The same in all steps" value={held} onValue={onHeld} />
      )}
    </>
  );
}

/** Without what the order does not take. */
function inOrder({ exclusions }: FunnelQuery, order: Order): Partial<FunnelQuery> {
  if (order === Order.STRICT) return { order, exclusions: [], optionalSteps: [] };
  if (order !== Order.ANY) return { order };
  return {
    ...{ order, optionalSteps: [] },
    exclusions: exclusions.map((one) => ({ ...one, fromStep: 0, toStep: 0 })),
  };
}
