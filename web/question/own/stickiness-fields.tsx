// What users are counted by: the buckets in which they were active, or their events.

import { create } from '@bufbuild/protobuf';
import { useState } from 'preact/hooks';
import {
  EventsPerUserSchema,
  type InsightQuerySpec,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Check, Field, Select } from '../../fields/field.tsx';

const ways = [
  { value: 'buckets', name: 'Days, weeks or months active' },
  { value: 'events', name: 'The number of their events' },
];
/** Longer than a hundred numbers. */
const maxCharacters = 900;

export function StickinessFields(props: {
  spec: InsightQuerySpec;
  onChange: (changes: Partial<InsightQuerySpec>) => void;
}) {
  const { spec, onChange } = props;
  const { eventsPerUser, cumulative } = spec;
  return (
    <fieldset class="series">
      <legend>Users</legend>
      <Select
        label="By"
        value={eventsPerUser ? 'events' : 'buckets'}
        options={ways}
        onValue={(way) =>
          onChange({ eventsPerUser: way === 'events' ? create(EventsPerUserSchema) : undefined })
        }
      />
      {eventsPerUser ? (
        <BoundsField
          bounds={eventsPerUser.bounds}
          onBounds={(bounds) => onChange({ eventsPerUser: { ...eventsPerUser, bounds } })}
        />
      ) : null}
      <Check
        label="Count users who were active so often or more"
        checked={cumulative}
        onValue={(next) => onChange({ cumulative: next })}
      />
    </fieldset>
  );
}

/** What is typed stays as it is: a list of numbers is one only when it is whole. */
function BoundsField(props: { bounds: readonly number[]; onBounds: (bounds: number[]) => void }) {
  const [text, setText] = useState(props.bounds.join(', '));
  return (
    <Field
      label="Points from"
      hint="Empty for 1 to 20. 1, 2, 3, 6 are the points 1, 2, 3 to 5, and 6 or more."
      placeholder="1, 2, 3, 6, 11"
      maxLength={maxCharacters}
      value={text}
      onValue={(next) => {
        setText(next);
        props.onBounds(boundsIn(next));
      }}
    />
  );
}

/** The whole numbers of a text, each once, ascending from 1; none where it has none. */
function boundsIn(text: string): number[] {
  const numbers = text.match(/\d{1,7}/g)?.map(Number) ?? [];
  if (numbers.length === 0) return [];
  return [...new Set([1, ...numbers.filter((one) => one > 0)])].sort((a, b) => a - b);
}
