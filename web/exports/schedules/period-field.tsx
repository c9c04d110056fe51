// A period of a scheduled export by its beginning: an hour or a day of UTC.

import { Field } from '../../fields/field.tsx';
import type { CadenceName } from './schedules-client.ts';

export function PeriodField(props: {
  label: string;
  /** What it is for. */
  hint: string;
  cadence: CadenceName;
  value: string;
  onValue: (value: string) => void;
  required?: boolean;
}) {
  const { cadence, hint, ...rest } = props;
  const isHourly = cadence === 'hourly';
  return (
    <Field
      {...rest}
      type={isHourly ? 'datetime-local' : 'date'}
      hint={`${isHourly ? 'An hour' : 'A day'} of UTC, at most 1,000 ${isHourly ? 'hours' : 'days'} ago. ${hint}`}
    />
  );
}
