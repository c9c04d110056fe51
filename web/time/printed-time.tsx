// What a page on paper says of its figures where a screen has fields: the days, and when they were answered.

import { useMemo } from 'preact/hooks';
import { formatTime } from './time.tsx';

/** `of`: the answer, whose moment is the one at which the page had it. `days`: the first and the last, in words. */
export function PrintedTime(props: { of: unknown; days: readonly [string, string]; zone: string }) {
  const { days, zone } = props;
  const answered = useMemo(() => new Date(), [props.of]);
  return (
    <p class="print-only">
      {days[0]} to {days[1]}, days of {zone}. Answered on {formatTime(answered, 'day', zone)} at{' '}
      {formatTime(answered, 'clock', zone)}.
    </p>
  );
}
