// What a question is split by: properties, and segments into those in them and those not.

import { create } from '@bufbuild/protobuf';
import {
  BreakdownSchema,
  type InsightQuerySpec,
  Touch,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { useAdded } from '../fields/added.ts';
import { Select } from '../fields/field.tsx';
import { Group } from '../fields/group.tsx';
import { Count } from '../fields/number-field.tsx';
import { SegmentChips } from '../filter/segment-bar.tsx';
import { asProperty, segmentOf } from '../filter/segment-names.ts';
import { Icon } from '../ui/icon.tsx';
import { formOf } from './forms.ts';
import { PropertyField } from './scope-fields.tsx';
import { countsUsers } from './series/counts-users.ts';

/** As the service has it. */
const maxBreakdowns = 5;

const touches = [
  { value: String(Touch.FIRST), name: 'Their first group' },
  { value: String(Touch.EVERY), name: 'Each group of theirs' },
];

export function Breakdowns(props: {
  spec: InsightQuerySpec;
  onChange: (changes: Partial<InsightQuerySpec>) => void;
}) {
  const { spec, onChange } = props;
  const { breakdowns } = spec;
  const all = breakdowns.map(({ property }) => property);
  const names = all.filter((property) => segmentOf(property) === undefined);
  const segments = all.flatMap((property) => segmentOf(property) ?? []);
  const [added, setAdded] = useAdded(names.length);
  const put = (properties: readonly string[], ids: readonly string[]): void => {
    const next = [...properties, ...ids.map(asProperty)].slice(0, maxBreakdowns);
    onChange({
      breakdowns: next.map((property) => create(BreakdownSchema, { property })),
      ...(next.length === 0 && { touch: Touch.UNSPECIFIED }),
    });
  };
  return (
    <Group title="Split by" isUsed={breakdowns.length > 0}>
      {names.map((property, index) => (
        <PropertyRow
          key={`${index}`}
          place={index + 1}
          property={property}
          isNew={index === added}
          onChange={(next) => put(names.with(index, next), segments)}
          onRemove={() => put(names.toSpliced(index, 1), segments)}
        />
      ))}
      {breakdowns.length > 0 && formOf(spec).hasAggregation && countsUsers(spec) ? (
        <Select
          label="A user counts in"
          value={String(spec.touch || Touch.FIRST)}
          options={touches}
          onValue={(touch) => onChange({ touch: Number(touch) })}
        />
      ) : null}
      {breakdowns.length > 0 ? (
        <Count
          label="Groups"
          value={spec.breakdownLimit || 10}
          most={100}
          onValue={(breakdownLimit) => onChange({ breakdownLimit })}
        />
      ) : null}
      {breakdowns.length < maxBreakdowns ? (
        <button
          type="button"
          class="add"
          onClick={() => {
            setAdded(names.length);
            put([...names, ''], segments);
          }}
        >
          <Icon name="plus" />
          Split by a property
        </button>
      ) : null}
      <SegmentChips
        label="Split by segments"
        action="Split by a segment"
        before={() => 'in or not in'}
        ids={segments}
        onAdd={(id) => put(names, [...segments, id])}
        onRemove={(id) => put(names, segments.toSpliced(segments.indexOf(id), 1))}
      />
    </Group>
  );
}

function PropertyRow(props: {
  place: number;
  property: string;
  isNew: boolean;
  onChange: (next: string) => void;
  onRemove: () => void;
}) {
  const { place, property, isNew, onChange, onRemove } = props;
  return (
    <div class="row tight">
      <PropertyField
        label={`Property ${place}`}
        value={property}
        isNew={isNew}
        onValue={onChange}
      />
      <button
        type="button"
        class="quiet end-of-field"
        aria-label={`Remove property ${place}`}
        onClick={onRemove}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
