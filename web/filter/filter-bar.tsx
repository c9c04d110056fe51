// The conditions of a page as chips, each opens its editor; "Add a filter" opens an empty one.

import { useState } from 'preact/hooks';
import { FilterOperator, PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import { Combo } from '../fields/combo.tsx';
import { Select } from '../fields/field.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { type Bots, BotsNote } from './bots.tsx';
import { type Condition, inWords, isComplete, operatorOf, operators } from './condition.ts';
import { propertySuggestions, type SuggestedOf, useSchema, useValueSuggestions } from './schema.ts';

const empty: Condition = {
  property: '',
  operator: FilterOperator.EQUALS,
  values: [],
  source: PropertySource.UNSPECIFIED,
};

export function FilterBar(props: {
  conditions: readonly Condition[];
  onChange: (next: Condition[]) => void;
  of?: SuggestedOf;
  label?: string;
  /** Of a page that counts visitors. */
  bots?: Bots;
}) {
  const { conditions, onChange, of = 'events', label = 'Filters', bots } = props;
  const [edited, setEdited] = useState<number>();
  const put = (condition: Condition): void => {
    onChange(
      edited === conditions.length
        ? [...conditions, condition]
        : conditions.map((one, index) => (index === edited ? condition : one)),
    );
    setEdited(undefined);
  };
  return (
    <div class="filters" role="group" aria-label={label}>
      {conditions.map((condition, index) => (
        <span class="chip" key={inWords(condition)}>
          <button type="button" onClick={() => setEdited(index)}>
            {inWords(condition)}
          </button>
          <button
            type="button"
            aria-label={`Remove: ${inWords(condition)}`}
            onClick={() => onChange(conditions.filter((one) => one !== condition))}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      <button type="button" class="quiet" onClick={() => setEdited(conditions.length)}>
        <Icon name="filter" />
        Add a filter
      </button>
      <BotsNote bots={bots} />
      {edited === undefined ? null : (
        <Editor
          of={of}
          start={conditions[edited] ?? empty}
          onPut={put}
          onClose={() => setEdited(undefined)}
        />
      )}
    </div>
  );
}

function Editor(props: {
  of: SuggestedOf;
  start: Condition;
  onPut: (condition: Condition) => void;
  onClose: () => void;
}) {
  const [draft, setDraft] = useState(props.start);
  const schema = useSchema();
  const takes = operatorOf(draft.operator)?.values ?? 'one';
  // A list's last text is typed, the ones before are taken.
  const typed = draft.values.at(-1) ?? '';
  const asSeen =
    props.of === 'profiles' && draft.property ? `profile.${draft.property}` : draft.property;
  const isKnown = schema.data?.properties.some(({ property }) => property === asSeen) ?? false;
  const suggestions = useValueSuggestions(isKnown ? asSeen : '', typed);
  const setValue = (index: number, value: string): void => {
    const values = [...draft.values];
    values[index] = value;
    setDraft({ ...draft, values });
  };
  const fields =
    takes === 'none' ? 0 : takes === 'two' ? 2 : takes === 'many' ? draft.values.length + 1 : 1;
  const result = {
    ...draft,
    values: draft.values
      .filter((value) => value !== '')
      .slice(0, takes === 'many' ? undefined : fields),
  };
  return (
    <Dialog title="Filter" onClose={props.onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isComplete(result)) props.onPut(result);
        }}
      >
        <Combo
          label="Property"
          value={draft.property}
          suggestions={propertySuggestions(schema.data, props.of)}
          onValue={(property) => setDraft({ ...draft, property })}
        />
        <Select
          label="Condition"
          value={String(draft.operator)}
          options={operators.map(({ operator, name }) => ({ value: String(operator), name }))}
          onValue={(operator) => setDraft({ ...draft, operator: Number(operator) })}
        />
        {Array.from({ length: fields }, (_, index) => (
          <Combo
            key={index}
            label={fields > 1 ? `Value ${index + 1}` : 'Value'}
            value={draft.values[index] ?? ''}
            suggestions={suggestions}
            onValue={(value) => setValue(index, value)}
          />
        ))}
        <div class="row end">
          <button type="submit" class="primary" disabled={!isComplete(result)}>
            Apply
          </button>
        </div>
      </form>
    </Dialog>
  );
}
