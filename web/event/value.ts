// The typed values of an event: what they are, how they read, and how they are sent again.

import { timestampDate } from '@bufbuild/protobuf/wkt';
import { readablePath } from '../../platform/words/readable-path.ts';
import type { PropertyValue } from '../../proto/gen/common/v1/property_value_pb.js';
import type { ActivityEvent } from '../../proto/gen/shared/activity/v1/activity_pb.js';

export type TypedValue = {
  type: 'string' | 'int' | 'double' | 'bool' | 'time' | 'none';
  text: string;
};

/** The type that was sent is the type that was stored: both are told. */
export function typedValue({ value }: PropertyValue): TypedValue {
  switch (value.case) {
    case 'stringValue':
      return { type: 'string', text: value.value };
    case 'intValue':
      return { type: 'int', text: String(value.value) };
    case 'doubleValue':
      return { type: 'double', text: String(value.value) };
    case 'boolValue':
      return { type: 'bool', text: String(value.value) };
    case 'timestampValue':
      return { type: 'time', text: timestampDate(value.value).toISOString() };
    case undefined:
      return { type: 'none', text: '' };
    default:
      return value satisfies never;
  }
}

type Properties = ActivityEvent['autoProperties'];

/** The text of one property; '' where it is absent. */
export function textOf(properties: Properties, key: string): string {
  // A name may be one that every object has.
  const found = Object.hasOwn(properties, key) ? properties[key] : undefined;
  return found ? typedValue(found).text : '';
}

/** The page of an event without its origin, however it was told, as people read it. */
export function pageOf(event: Pick<ActivityEvent, 'autoProperties'>): string {
  return readablePath(rawPageOf(event));
}

/** The same as it is stored. */
export function rawPageOf({ autoProperties }: Pick<ActivityEvent, 'autoProperties'>): string {
  const path = textOf(autoProperties, '$pathname');
  if (path) return path;
  const url = textOf(autoProperties, '$url');
  return URL.canParse(url) ? new URL(url).pathname : url;
}

/** "Berlin, DE": as much of it as is known. */
export function placeOf({ autoProperties }: ActivityEvent): string {
  return [textOf(autoProperties, '$city'), textOf(autoProperties, '$country')]
    .filter(Boolean)
    .join(', ');
}

/** The server alone says them: sent, they are ignored. */
const serverOnly = ['$bot_score', '$verified_bot', '$ip'];

function propertiesJson(properties: Properties): Record<string, unknown> {
  const entries = Object.entries(properties).flatMap(([key, property]) => {
    const { value } = property;
    if (value.case === undefined || serverOnly.includes(key)) return [];
    const json =
      value.case === 'intValue'
        ? String(value.value)
        : value.case === 'timestampValue'
          ? timestampDate(value.value).toISOString()
          : value.value;
    return [[key, { [value.case]: json }]];
  });
  return Object.fromEntries(entries);
}

/** The event as BatchCreate takes it. */
export function eventJson(event: ActivityEvent): Record<string, unknown> {
  const { eventId, kind, distinctId, sessionId, occurTime } = event;
  const isCookieless = distinctId.startsWith('cookieless-');
  return {
    eventId,
    kind,
    ...(isCookieless ? { cookieless: true } : { distinctId, sessionId }),
    ...(occurTime ? { occurTime: timestampDate(occurTime).toISOString() } : {}),
    autoProperties: propertiesJson(event.autoProperties),
    customProperties: propertiesJson(event.customProperties),
  };
}

/** For a shell: single quotes hold anything but themselves. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A command that sends the event. With the same id the service drops it as a duplicate, so it is safe to run. */
export function eventCurl(event: ActivityEvent, origin: string): string {
  const body = JSON.stringify({ events: [eventJson(event)] });
  return [
    `curl -s ${origin}/sdk.events.v1.EventsService/BatchCreate \\`,
    `  -H 'content-type: application/json' -H "x-api-key: $MILLRACE_KEY" \\`,
    `  -d ${quoted(body)}`,
  ].join('\n');
}
