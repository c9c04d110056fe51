// The form of a filter's dialog.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Condition, isComplete } from './condition.ts';
import { ConditionFields, withoutGaps } from './condition-fields.tsx';
import type { SuggestedOf } from './schema.ts';

export function ConditionEditor(props: {
  of: SuggestedOf;
  start: Condition;
  onPut: (condition: Condition) => void;
}) {
  const [draft, setDraft] = useState(props.start);
  const form = useRef<HTMLFormElement>(null);
  // It comes after its dialog, which had no field to take the focus to.
  useLayoutEffect(() => form.current?.querySelector('input')?.focus(), []);
  const result = withoutGaps(draft);
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete(result)) props.onPut(result);
      }}
    >
      <ConditionFields of={props.of} condition={draft} onChange={setDraft} />
      <div class="row end">
        <button type="submit" class="primary" disabled={!isComplete(result)}>
          Apply
        </button>
      </div>
    </form>
  );
}
