// The field of the last day of something that may end, a link or a key, and the moment at which that day is over.

import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { ComponentChild } from 'preact';
import { useState } from 'preact/hooks';
import { Field } from '../fields/field.tsx';
import { currentZone } from './time.tsx';
import { parseDay, startOfDayAt } from './zone.ts';

type LastDay = {
  field: ComponentChild;
  /** Undefined where it never ends. */
  expireTime: Timestamp | undefined;
  /** What is typed is no day. Sent without an end, it would never end. */
  isNoDay: boolean;
};

export function useLastDay(): LastDay {
  const [lastDay, setLastDay] = useState('');
  const zone = currentZone();
  const day = parseDay(lastDay, zone);
  const isNoDay = lastDay !== '' && day === undefined;
  return {
    field: (
      <Field
        label="Last day"
        type="date"
        value={lastDay}
        onValue={setLastDay}
        hint={`Empty: it never ends. Days of ${zone}.`}
        fault={isNoDay ? 'Not a day that can be read.' : undefined}
      />
    ),
    expireTime: day && timestampFromDate(startOfDayAt(day, zone, 1)),
    isNoDay,
  };
}
