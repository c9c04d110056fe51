// The rows that a reader has loaded, in the columns that are shown: values as they are stored, for other programs.

import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { ActivityEvent } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { placeOf, rawPageOf, typedValue } from '../event/value.ts';
import { type Grid, toCsv } from '../exports/csv.ts';
import { columnName, propertyText } from './columns.tsx';
import { type FieldId, isField, propertyOf, type ShownColumn } from './shown-columns.ts';

/** Heads of properties are their names as they are sent. */
export function rowsCsv(rows: readonly ActivityEvent[], columns: readonly ShownColumn[]): string {
  const grid: Grid = {
    columns: columns.map(({ id }) => propertyOf(id) ?? columnName(id)),
    rows: rows.map((event) => columns.map(({ id }) => plainText(event, id))),
  };
  return toCsv(grid);
}

function plainText(event: ActivityEvent, id: string): string {
  return isField(id) ? fieldText(event, id) : propertyText(event, propertyOf(id) ?? id);
}

function fieldText(event: ActivityEvent, id: FieldId): string {
  switch (id) {
    case 'time':
      return event.occurTime ? timestampDate(event.occurTime).toISOString() : '';
    case 'kind':
      return event.kind;
    case 'who':
      return event.distinctId;
    case 'page':
      return rawPageOf(event);
    case 'place':
      return placeOf(event);
    case 'properties':
      return propertiesText(event.customProperties);
    case 'visit':
      return event.sessionId;
    case 'profile':
      return event.profileId;
    case 'event':
      return event.eventId;
    default:
      return id satisfies never;
  }
}

/** As JSON, all of them: each value as a text, because a number of JSON has fewer digits. */
function propertiesText(properties: ActivityEvent['customProperties']): string {
  const texts = Object.entries(properties).map(([key, value]) => [key, typedValue(value).text]);
  return texts.length === 0 ? '' : JSON.stringify(Object.fromEntries(texts));
}
