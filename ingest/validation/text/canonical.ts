// Writes events in the one form in which re-encoded events are queued: protobuf JSON in camelCase, int64 as strings,
// doubles as numbers, without unknown members and without the properties that only the server sets. Checks nothing:
// event-rules.ts has passed the events.

import { isObject } from '../../../platform/json.ts';
import { EventFields, readEventFields } from '../event-fields.ts';
import { type Property, readProperty } from '../property.ts';

/** The caller's address is written nowhere; the bot verdict comes from the CDN alone. */
const neverFromSender = new Set(['$ip', '$bot_score', '$verified_bot']);

/** A BatchCreateRequest as JSON text in UTF-8. */
export function encodeCanonical(events: readonly unknown[]): Buffer {
  return Buffer.from(`{"events":[${events.map(eventText).join(',')}]}`);
}

function eventText(event: unknown): string {
  const fields = new EventFields();
  if (isObject(event)) readEventFields(event, fields);
  const members = [
    ...textMember('eventId', fields.eventId),
    ...textMember('kind', fields.kind),
    ...textMember('distinctId', fields.distinctId),
    ...textMember('sessionId', fields.sessionId),
    ...textMember('occurTime', fields.occurTime),
    ...(fields.cookieless === true ? ['"cookieless":true'] : []),
    ...mapMember('autoProperties', fields.autoProperties),
    ...mapMember('customProperties', fields.customProperties),
  ];
  return `{${members.join(',')}}`;
}

function textMember(name: keyof EventFields, value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? [`"${name}":${JSON.stringify(value)}`] : [];
}

function mapMember(name: keyof EventFields, map: unknown): string[] {
  if (!isObject(map)) return [];
  const entries: string[] = [];
  for (const key in map) {
    if (neverFromSender.has(key)) continue;
    const property = readProperty(map[key]);
    if (property !== undefined) entries.push(`${JSON.stringify(key)}:${propertyText(property)}`);
  }
  return entries.length === 0 ? [] : [`"${name}":{${entries.join(',')}}`];
}

function propertyText({ variant, value }: Property): string {
  switch (variant) {
    case 'intValue':
      return `{"intValue":"${value}"}`;
    case 'doubleValue':
      return `{"doubleValue":${numberText(Number(value))}}`;
    case 'stringValue':
    case 'boolValue':
    case 'timestampValue':
      return `{"${variant}":${JSON.stringify(value)}}`;
    default:
      return variant satisfies never;
  }
}

/** JSON.stringify drops the sign of zero. */
function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}
