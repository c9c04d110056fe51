// The form of a range that is no preset: its first day and its last one.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Field } from '../fields/field.tsx';
import { setQuery } from '../router.ts';
import { currentZone } from './time.tsx';
import { dayText } from './zone.ts';

/** `range`: what the fields begin with. */
export function OwnDays(props: { range: { from: Date; to: Date }; onDone: () => void }) {
  const { range, onDone } = props;
  const zone = currentZone();
  const [from, setFrom] = useState(dayText(range.from, zone));
  const [to, setTo] = useState(dayText(new Date(range.to.getTime() - 1), zone));
  const form = useRef<HTMLFormElement>(null);
  // It comes after its dialog, which had no field to take the focus to.
  useLayoutEffect(() => form.current?.querySelector('input')?.focus(), []);
  const isGood = from !== '' && to !== '' && from <= to;
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isGood) return;
        onDone();
        setQuery({ range: undefined, from, to });
      }}
    >
      <div class="row">
        <Field label="First day" type="date" value={from} onValue={setFrom} />
        <Field label="Last day" type="date" value={to} onValue={setTo} />
      </div>
      <p class="hint">Days begin and end in {zone}.</p>
      <div class="row end">
        <button type="submit" class="primary" disabled={!isGood}>
          Apply
        </button>
      </div>
    </form>
  );
}
