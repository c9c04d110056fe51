// The fields of one condition on a property: its name, how it is compared, and with what.

import { Combo } from '../fields/combo.tsx';
import { Select } from '../fields/field.tsx';
import { type Condition, operatorOf, operators } from './condition.ts';
import { propertySuggestions, type SuggestedOf, useSchema, useValueSuggestions } from './schema.ts';

export function ConditionFields(props: {
  of: SuggestedOf;
  condition: Condition;
  onChange: (next: Condition) => void;
}) {
  const { of, condition, onChange } = props;
  const schema = useSchema();
  const takes = operatorOf(condition.operator)?.values ?? 'one';
  // A list's last text is typed, the ones before are taken.
  const typed = condition.values.at(-1) ?? '';
  const { property } = condition;
  const asSeen = of === 'users' && property ? `profile.${property}` : property;
  const isKnown = schema.data?.properties.some((seen) => seen.property === asSeen) ?? false;
  const suggestions = useValueSuggestions(isKnown ? asSeen : '', typed);
  const setValue = (index: number, value: string): void => {
    const values = [...condition.values];
    values[index] = value;
    onChange({ ...condition, values });
  };
  const fields = fieldsOf(condition) + (takes === 'many' ? 1 : 0);
  return (
    <>
      <Combo
        label="Property"
        value={property}
        suggestions={propertySuggestions(schema.data, of)}
        onValue={(next) => onChange({ ...condition, property: next })}
      />
      <Select
        label="Condition"
        value={String(condition.operator)}
        options={operators.map(({ operator, name }) => ({ value: String(operator), name }))}
        onValue={(operator) => onChange({ ...condition, operator: Number(operator) })}
      />
      {Array.from({ length: fields }, (_, index) => (
        <Combo
          key={index}
          label={fields > 1 ? `Value ${index + 1}` : 'Value'}
          value={condition.values[index] ?? ''}
          suggestions={suggestions}
          onValue={(value) => setValue(index, value)}
        />
      ))}
    </>
  );
}

/** Without what its operator does not take, and without the values that nobody filled in. */
export function withoutGaps(condition: Condition): Condition {
  const fields = fieldsOf(condition);
  const values = condition.values.filter((value) => value !== '').slice(0, fields);
  return { ...condition, values };
}

/** How many values it has or needs. */
function fieldsOf({ operator, values }: Condition): number {
  switch (operatorOf(operator)?.values) {
    case 'none':
      return 0;
    case 'two':
      return 2;
    case 'many':
      return values.length;
    default:
      return 1;
  }
}
