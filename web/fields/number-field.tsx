// Fields for whole numbers. What is beyond their bounds becomes the nearest number within.

import { Field } from './field.tsx';

/** From 0; undefined where the field is empty. */
export function NumberField(props: {
  label: string;
  value: number | undefined;
  /** Where the browser's arrows end; 0 is taken all the same. */
  least?: number;
  most: number;
  onValue: (value: number | undefined) => void;
}) {
  const { label, value, least = 0, most, onValue } = props;
  return (
    <Field
      label={label}
      type="number"
      min={String(least)}
      max={String(most)}
      value={value === undefined ? '' : String(value)}
      onValue={(text) =>
        onValue(text === '' ? undefined : Math.max(0, Math.min(most, Math.floor(Number(text)))))
      }
    />
  );
}

/** From 1; 0 where the field is empty, for which the service has its usual number. */
export function Count(props: {
  label: string;
  value: number;
  most: number;
  onValue: (value: number) => void;
}) {
  const { value, onValue } = props;
  return (
    <NumberField
      {...props}
      value={value || undefined}
      least={1}
      onValue={(count = 0) => onValue(count)}
    />
  );
}
