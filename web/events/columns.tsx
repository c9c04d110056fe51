// The columns of stored events.

import type { ActivityEvent } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { pageOf, placeOf, typedValue } from '../event/value.ts';
import { kindName } from '../results/names.ts';
import { readablePath } from '../text/readable-path.ts';
import { Time } from '../time/time.tsx';
import type { Column } from '../ui/table.tsx';

const when: Column<ActivityEvent> = {
  name: 'Time',
  width: '152px',
  cell: ({ occurTime }) => <Time at={occurTime} as="moment" />,
};

const kind: Column<ActivityEvent> = {
  name: 'Kind',
  width: 'minmax(120px, 1.2fr)',
  cell: (event) => (
    <strong class="events-kind" title={event.kind}>
      {kindName(event.kind)}
    </strong>
  ),
};

const who: Column<ActivityEvent> = {
  name: 'Who',
  width: 'minmax(96px, 1.4fr)',
  cell: ({ distinctId }) => <span title={distinctId}>{distinctId}</span>,
};

/** For a phone. */
export const fewColumns: readonly Column<ActivityEvent>[] = [
  { ...when, width: '104px', cell: ({ occurTime }) => <Time at={occurTime} as="short" /> },
  { ...kind, width: 'minmax(0, 1.3fr)' },
  { ...who, width: 'minmax(0, 1fr)' },
];

export const storedColumns: readonly Column<ActivityEvent>[] = [
  when,
  kind,
  who,
  { name: 'Page', width: 'minmax(96px, 1.4fr)', cell: (event) => pageOf(event) },
  { name: 'Place', width: 'minmax(80px, 1fr)', cell: (event) => placeOf(event) },
  {
    name: 'Properties',
    width: 'minmax(120px, 2.4fr)',
    cell: ({ customProperties }) => {
      const text = inShort(customProperties);
      return (
        <span class="mono events-properties" title={text}>
          {text}
        </span>
      );
    },
  },
];

const maxShown = 6;

/** plan=pro seats=12 */
function inShort(properties: ActivityEvent['customProperties']): string {
  return Object.entries(properties)
    .slice(0, maxShown)
    .map(([key, value]) => `${key}=${readablePath(typedValue(value).text)}`)
    .join('  ');
}
