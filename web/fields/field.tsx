// A labelled field. The hint and the fault are read with it.

import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

type Common = { label: string; hint?: ComponentChildren; fault?: string | undefined };

/** A line of text. Other attributes of `<input>` pass through. */
export function Field({
  label,
  hint,
  fault,
  value,
  onValue,
  type = 'text',
  ...rest
}: Common & {
  value: string;
  onValue: (value: string) => void;
  type?: 'text' | 'email' | 'password' | 'date' | 'number' | 'url' | 'search' | 'datetime-local';
  name?: string;
  required?: boolean;
  autoComplete?: string;
  placeholder?: string;
  minLength?: number;
  maxLength?: number;
  min?: string;
  max?: string;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...rest}
        id={id}
        // Preact's types tell kinds of input apart by the ARIA role, and none is set here.
        type={type as 'text'}
        value={value}
        aria-invalid={fault ? true : undefined}
        aria-describedby={`${id}-hint`}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <Note id={`${id}-hint`} hint={hint} fault={fault} />
    </div>
  );
}

/** One of several, by the browser's own list. */
export function Select<T extends string>({
  label,
  hint,
  fault,
  value,
  options,
  onValue,
  isLabelHidden = false,
}: Common & {
  value: T;
  options: readonly { value: T; name: string }[];
  onValue: (value: T) => void;
  isLabelHidden?: boolean;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? 'unseen' : ''}>
        {label}
      </label>
      <select
        id={id}
        value={value}
        aria-describedby={`${id}-hint`}
        onChange={(event) => {
          const chosen = options.find((option) => option.value === event.currentTarget.value);
          if (chosen) onValue(chosen.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
      <Note id={`${id}-hint`} hint={hint} fault={fault} />
    </div>
  );
}

/** Several lines. */
export function TextArea({
  label,
  hint,
  fault,
  value,
  onValue,
  rows = 5,
  maxLength,
}: Common & {
  value: string;
  onValue: (value: string) => void;
  rows?: number;
  maxLength?: number;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        maxLength={maxLength}
        value={value}
        aria-invalid={fault ? true : undefined}
        aria-describedby={`${id}-hint`}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <Note id={`${id}-hint`} hint={hint} fault={fault} />
    </div>
  );
}

export function Check(props: {
  label: string;
  checked: boolean;
  onValue: (value: boolean) => void;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={props.checked}
        onChange={(event) => props.onValue(event.currentTarget.checked)}
      />
      {props.label}
    </label>
  );
}

function Note({
  id,
  hint,
  fault,
}: {
  id: string;
  hint?: ComponentChildren;
  fault?: string | undefined;
}) {
  return (
    <p id={id} class={fault ? 'hint bad' : 'hint'} hidden={!hint && !fault}>
      {fault ?? hint}
    </p>
  );
}
