// An event that may not lie between two steps of a funnel.

import type { FunnelExclusion } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Select } from '../../fields/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ScopeFields } from '../scope-fields.tsx';

export function ExclusionFields(props: {
  exclusion: FunnelExclusion;
  /** From 0. */
  index: number;
  /** Of the funnel. */
  steps: number;
  /** It cannot name steps. */
  isWhole: boolean;
  onChange: (exclusion: FunnelExclusion) => void;
  onRemove: () => void;
}) {
  const { exclusion, index, steps, onChange } = props;
  const name = `Exclusion ${index + 1}`;
  const from = exclusion.fromStep || 1;
  const to = exclusion.toStep || steps;
  return (
    <fieldset class="series">
      <legend>{name}</legend>
      <ScopeFields
        label="Without"
        filtersLabel={`${name}: filters`}
        scope={exclusion.event}
        onChange={(event) => onChange({ ...exclusion, event })}
      />
      {props.isWhole ? null : (
        <div class="row">
          <Select
            label={`${name}: after`}
            value={String(from)}
            options={stepsFrom(1, steps - 1)}
            onValue={(value) => {
              const fromStep = Number(value);
              // The last step is what 0 means, also when a step is added.
              const toStep = to > fromStep ? exclusion.toStep : 0;
              onChange({ ...exclusion, fromStep, toStep });
            }}
          />
          <Select
            label={`${name}: before`}
            value={String(to)}
            options={stepsFrom(from + 1, steps)}
            onValue={(value) => {
              const toStep = Number(value);
              onChange({ ...exclusion, toStep: toStep === steps ? 0 : toStep });
            }}
          />
        </div>
      )}
      <div class="series-tools">
        <button
          type="button"
          class="quiet"
          aria-label={`Remove ${name.toLowerCase()}`}
          onClick={props.onRemove}
        >
          <Icon name="close" />
        </button>
      </div>
    </fieldset>
  );
}

function stepsFrom(first: number, last: number): { value: string; name: string }[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => ({
    value: String(first + index),
    name: `Step ${first + index}`,
  }));
}
