// The columns of stored events: of their fields and of their properties.

import { readablePath } from '../../platform/words/readable-path.ts';
import { kindName } from '../../platform/words/value-words.ts';
import type { ActivityEvent } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { pageOf, placeOf, textOf, typedValue } from '../event/value.ts';
import { propertyName } from '../filter/condition.ts';
import { Marked, MarkedPlace } from '../marks/marked.tsx';
import { kindNamer } from '../text/namer.ts';
import { Time } from '../time/time.tsx';
import type { Column } from '../ui/table.tsx';
import { ColumnEdge } from './column-edge.tsx';
import { type FieldId, isField, propertyOf, type ShownColumn, withWidth } from './shown-columns.ts';
import type { ColumnsState } from './use-columns.ts';

type EventColumn = Column<ActivityEvent>;

const when: EventColumn = {
  name: 'Time',
  width: '152px',
  cell: ({ occurTime }) => <Time at={occurTime} as="moment" />,
};

const kind: EventColumn = {
  name: 'Event',
  width: 'minmax(150px, 1.4fr)',
  cell: kindCell(kindName),
};

function kindCell(nameOf: (kind: string) => string): EventColumn['cell'] {
  return (event) => (
    <strong class="events-kind" title={event.kind}>
      {nameOf(event.kind)}
    </strong>
  );
}

const who: EventColumn = {
  name: 'User id',
  width: 'minmax(96px, 1.2fr)',
  // As it was sent: an event does not say whether its sender was named later.
  cell: ({ distinctId }) => <span title={distinctId}>{distinctId}</span>,
};

/** For a phone, where nobody has chosen others. */
const fewColumns: readonly EventColumn[] = [
  { ...when, width: '104px', cell: ({ occurTime }) => <Time at={occurTime} as="short" /> },
  { ...kind, width: 'minmax(0, 2fr)' },
  { ...who, width: 'minmax(0, 1fr)' },
];

const ofFields: Record<FieldId, EventColumn> = {
  time: when,
  kind,
  who,
  page: { name: 'Page', width: 'minmax(96px, 1.4fr)', cell: (event) => pageOf(event) },
  place: {
    name: 'Place',
    width: 'minmax(80px, 1fr)',
    cell: (event) => (
      <MarkedPlace country={propertyText(event, '$country')}>{placeOf(event)}</MarkedPlace>
    ),
  },
  properties: {
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
  visit: idColumn('Visit id', ({ sessionId }) => sessionId),
  profile: idColumn('Internal user id', ({ profileId }) => profileId),
  event: idColumn('Event id', ({ eventId }) => eventId),
};

function idColumn(name: string, idOf: (event: ActivityEvent) => string): EventColumn {
  return {
    name,
    width: 'minmax(96px, 1fr)',
    cell: (event) => (
      <span class="mono" title={idOf(event)}>
        {idOf(event)}
      </span>
    ),
  };
}

const maxShown = 6;

/** plan=pro seats=12 */
function inShort(properties: ActivityEvent['customProperties']): string {
  return Object.entries(properties)
    .slice(0, maxShown)
    .map(([key, value]) => `${key}=${readablePath(typedValue(value).text)}`)
    .join('  ');
}

/** What is sent by the page begins with a dollar sign; the rest is the event's own. */
export function propertyText(event: ActivityEvent, property: string): string {
  const isAuto = property.startsWith('$');
  return textOf(isAuto ? event.autoProperties : event.customProperties, property);
}

/** As heads and the choice of columns name it. */
export function columnName(id: string): string {
  return isField(id) ? ofFields[id].name : propertyName(propertyOf(id) ?? id);
}

function columnOf({ id, widthPx }: ShownColumn): EventColumn {
  const usual = isField(id) ? ofFields[id] : propertyColumn(propertyOf(id) ?? id);
  return { ...usual, id, ...(widthPx === undefined ? {} : { width: `${widthPx}px` }) };
}

function propertyColumn(property: string): EventColumn {
  return {
    name: propertyName(property),
    width: 'minmax(96px, 1fr)',
    cell: (event) => {
      const stored = propertyText(event, property);
      const text = readablePath(stored);
      return (
        <Marked property={property} value={stored}>
          <span title={text}>{text}</span>
        </Marked>
      );
    },
  };
}

/** As the table takes them, with edges that make them wider. `rows`: whose kinds are told apart. */
export function tableColumns(
  state: ColumnsState,
  isNarrow: boolean,
  rows: readonly ActivityEvent[],
): readonly EventColumn[] {
  const { columns, areUsual, change, tryWidth, keepWidth } = state;
  const cell = kindCell(kindNamer(rows.map((event) => event.kind)));
  const named = (column: EventColumn): EventColumn =>
    column.cell === kind.cell ? { ...column, cell } : column;
  if (isNarrow && areUsual) return fewColumns.map(named);
  return columns.map((shown) => ({
    ...named(columnOf(shown)),
    edge: (
      <ColumnEdge
        name={columnName(shown.id)}
        onWidth={(widthPx) => tryWidth(shown.id, widthPx)}
        onEnd={keepWidth}
        onAutomatic={() => change(withWidth(columns, shown.id, undefined))}
      />
    ),
  }));
}
