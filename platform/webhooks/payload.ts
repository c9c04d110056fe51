// The body of a delivery: the JSON that is signed and sent. It is made from an event's ids and custom properties, the
// same bytes each time, and rendered once for an event: only its beginning differs from webhook to webhook.
//
//   {deliveryId, webhookId, organizationId, projectId, eventType, occurTime, source, test: true (of a test alone),
//    data: {eventId, distinctId, kind (of the type `event` alone), roomId, spaceId, blockId, roomType, ...the other
//    custom properties by name}}
//
// Names in `data`: snake_case becomes camelCase, `order_id` is `orderId`. An underscore goes where a letter or digit
// stands before it and a lower-case letter or digit behind it, so `_id`, `__proto__` and `Order_ID` stay as they are.
// Of two properties that would get one name, the one that is spelled so has it, else the first by name; the other keeps
// its own spelling. The names above are the service's: another property that would get one keeps its own spelling, and
// is left out where that is the same. Properties stand in the order of their own names.
//
// Values: an id (`idNames`) is always a text, also where the sender gave a whole number. Another integer is a text
// beyond 2^53 - 1, because JSON numbers are read as doubles; a time is RFC 3339 with milliseconds.

import type { RoomEventType } from './webhook-record.ts';

export type PayloadValue = string | number | bigint | boolean | Date;

/** What the key of the request was that brought the event. */
export type PayloadSource = 'PUBLIC' | 'PRIVATE';

/** What a room event is about; a member is absent where the event does not say. */
export interface Subjects {
  roomId?: string;
  spaceId?: string;
  blockId?: string;
  roomType?: string;
}

/** A room event's type is its kind. */
type PayloadType = { eventType: RoomEventType } | { eventType: 'event'; kind: string };

export type PayloadEvent = PayloadType & {
  organizationId: string;
  projectId: string;
  /** Milliseconds since the epoch. */
  occurTimeMs: number;
  source: PayloadSource;
  /** Nobody's event: it is sent to try an endpoint, or is an example. */
  isTest?: boolean;
  eventId: string;
  distinctId: string;
  /** The custom properties by their own names, in any order. */
  properties: ReadonlyMap<string, PayloadValue>;
};

const subjectMembers = ['roomId', 'spaceId', 'blockId', 'roomType'] as const;

/** Beside the subjects. Receivers look things up by them: a number would be another key than the text. */
const idNames: ReadonlySet<string> = new Set(['messageId', 'recordingId', 'responseId']);

const roomOwnNames: ReadonlySet<string> = new Set(['eventId', 'distinctId', ...subjectMembers]);
const eventOwnNames: ReadonlySet<string> = new Set([...roomOwnNames, 'kind']);

/** The properties that tell what an event is about: the first of each that has a fitting value. */
const subjectNames = {
  roomId: ['roomId', 'room_id'],
  spaceId: ['spaceId', 'space_id'],
  blockId: ['blockId', 'block_id'],
  roomType: ['roomType', 'room_type'],
} as const satisfies Record<keyof Subjects, readonly string[]>;

const allSubjectNames: ReadonlySet<string> = new Set(Object.values(subjectNames).flat());

/** The payload of an event for one webhook; `part` is the event's, from renderEvent. */
export function payloadOf(deliveryId: string, webhookId: string, part: string): string {
  return `{"deliveryId":${JSON.stringify(deliveryId)},"webhookId":${JSON.stringify(webhookId)},${part}`;
}

/** The part of the payload that all webhooks of an event have in common. */
export function renderEvent(event: PayloadEvent): string {
  const { organizationId, projectId, eventType, occurTimeMs, source, properties } = event;
  const { subjects, used } = subjectsOf(properties);
  let data = `"eventId":${JSON.stringify(event.eventId)},"distinctId":${JSON.stringify(event.distinctId)}`;
  if (event.eventType === 'event') data += `,"kind":${JSON.stringify(event.kind)}`;
  const ownNames = event.eventType === 'event' ? eventOwnNames : roomOwnNames;
  for (const name of subjectMembers) {
    const value = subjects[name];
    if (value !== undefined) data += `,"${name}":${JSON.stringify(value)}`;
  }
  const given = new Set<string>();
  const names = [...properties.keys()].filter((name) => !used.includes(name)).sort();
  for (const own of names) {
    const name = nameOf(own, properties, { given, ownNames });
    if (ownNames.has(name)) continue;
    given.add(name);
    const value = properties.get(own) ?? '';
    const id = idNames.has(camelCase(own)) ? idText(value) : undefined;
    data += `,${JSON.stringify(name)}:${valueText(id ?? value)}`;
  }
  return (
    `"organizationId":${JSON.stringify(organizationId)},"projectId":${JSON.stringify(projectId)},` +
    `"eventType":"${eventType}","occurTime":"${new Date(occurTimeMs).toISOString()}",` +
    `"source":"${source}",${event.isTest === true ? '"test":true,' : ''}"data":{${data}}}`
  );
}

/** Whether `subjectsOf` reads the property; it needs no other. */
export function isSubjectName(name: string): boolean {
  return allSubjectNames.has(name);
}

/** Reads what an event is about from its custom properties, and the names of those that say it. */
export function subjectsOf(properties: ReadonlyMap<string, PayloadValue>): {
  subjects: Subjects;
  used: readonly string[];
} {
  const subjects: Subjects = {};
  const used: string[] = [];
  for (const member of subjectMembers) {
    for (const name of subjectNames[member]) {
      const value = properties.get(name);
      const text = member === 'roomType' ? textOf(value) : idText(value);
      if (text === undefined) continue;
      subjects[member] = text;
      used.push(name);
      break;
    }
  }
  return { subjects, used };
}

/** `order_id` as `orderId`. */
export function camelCase(name: string): string {
  return name.includes('_')
    ? name.replace(/(?<=[A-Za-z0-9])_([a-z0-9])/g, (_, next: string) => next.toUpperCase())
    : name;
}

/** The name in `data` of the property `own`, where the names of `given` and `ownNames` are taken. */
function nameOf(
  own: string,
  properties: ReadonlyMap<string, unknown>,
  { given, ownNames }: Record<'given' | 'ownNames', ReadonlySet<string>>,
): string {
  const camel = camelCase(own);
  return properties.has(camel) || given.has(camel) || ownNames.has(camel) ? own : camel;
}

function textOf(value: PayloadValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function idText(value: PayloadValue | undefined): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value);
  return isInteger ? String(value) : undefined;
}

function valueText(value: PayloadValue): string {
  if (typeof value !== 'bigint') return JSON.stringify(value);
  return isSafe(value) ? String(value) : `"${value}"`;
}

function isSafe(value: bigint): boolean {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
}
