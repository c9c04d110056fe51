// The field for a time zone, with all that the browser knows.

import { Combo } from './combo.tsx';

const zones = (): { value: string }[] =>
  ['UTC', ...Intl.supportedValuesOf('timeZone')].map((value) => ({ value }));

/** The zone in which a project's days begin and end. The service refuses a name that it does not know. */
export function ZoneField(props: { value: string; onValue: (value: string) => void }) {
  return (
    <Combo
      label="Time zone"
      hint="Days, weeks and months of every figure begin in it."
      suggestions={zones()}
      value={props.value}
      onValue={props.onValue}
    />
  );
}
