// A field for a whole number.

import { Field } from '../fields/field.tsx';

/** A whole number; the service says what is too much. */
export function Count(props: {
  label: string;
  value: number;
  most: number;
  onValue: (value: number) => void;
}) {
  return (
    <Field
      label={props.label}
      type="number"
      min="1"
      max={String(props.most)}
      value={props.value === 0 ? '' : String(props.value)}
      onValue={(text) =>
        props.onValue(Math.max(0, Math.min(props.most, Math.floor(Number(text)))) || 0)
      }
    />
  );
}
