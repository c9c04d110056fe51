// Converts the short shape of BatchCreate (events.v1: name, untyped properties, timestamp) to the typed shape, which
// event-rules.ts then checks. Knows the short shape's own conventions: the place of the user's id, the types of untyped
// values, and the ids that its senders leave out.

import { createHash, randomUUID } from 'node:crypto';
import { type MessageShape, toBinary, toJson } from '@bufbuild/protobuf';
import { isObject, type JsonObject } from '../../platform/json.ts';
import { maxEventsPerRequest } from '../../platform/limits.ts';
import { BatchCreateRequestSchema, EventSchema } from '../../proto/gen/events/v1/events_pb.js';
import type { Rule } from '../../proto/wire/rules.ts';
import { propertyPath } from '../../proto/wire/violation-path.ts';
import { nameEvents, shortEventId, type UnnamedEvent } from './short-event-id.ts';
import { parseKnownJson } from './text/known-json.ts';
import { knownMembers } from './text/known-members.ts';
import {
  type BodyContext,
  decodeBinary,
  invalidBody,
  kindAt,
  type ReadBody,
  readEvents,
  tooManyEvents,
} from './text/reference-body.ts';
import { isUuid, uuidV5 } from './text/uuid.ts';
import type { Violation } from './violation.ts';

export interface ShortContext extends BodyContext {
  /** The namespace of derived ids. */
  projectId: string;
  /** The Idempotency-Key header: makes the ids of events without a timestamp repeatable. */
  idempotencyKey: string | undefined;
}

// A property is a text, a number or a boolean: no rule looks inside an object.
const shortMembers = knownMembers(BatchCreateRequestSchema, { values: 'scalar' });

/** A body of protobuf JSON. Overwrites unknown members in `received`. */
export function readShortJsonBody(received: Buffer, context: ShortContext): ReadBody {
  // Taken first, because unknown members are overwritten: the ids of a repetition do not depend on the known names.
  const bodyHash = sha256(received);
  const parsed = parseKnownJson(received, shortMembers);
  if (parsed.kind === 'invalid') return withKind(parsed.violation, received);
  if (parsed.lacksEvents) return invalid({ index: -1, field: 'events', rule: 'events_missing' });
  return readShortRequest(parsed.value, bodyHash, context);
}

/** A body of binary protobuf. */
export function readShortBinaryBody(received: Buffer, context: ShortContext): ReadBody {
  const decoded = decodeBinary(BatchCreateRequestSchema, received);
  if (decoded.kind === 'invalid') return decoded;
  return readDecoded(decoded.message, sha256(received), context);
}

/** A message that the Connect router decoded. */
export function readShortMessage(
  message: MessageShape<typeof BatchCreateRequestSchema>,
  context: ShortContext,
): ReadBody {
  if (message.events.length > maxEventsPerRequest) return tooManyEvents(message.events.length);
  return readDecoded(message, sha256(toBinary(BatchCreateRequestSchema, message)), context);
}

function readDecoded(
  message: MessageShape<typeof BatchCreateRequestSchema>,
  bodyHash: string,
  context: ShortContext,
): ReadBody {
  let events: unknown[];
  try {
    events = message.events.map((event) => toJson(EventSchema, event));
  } catch {
    // JSON has no form for a moment out of range, nor for a number that is none.
    return invalidBody('body_protobuf');
  }
  return readShortRequest({ events }, bodyHash, context);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function readShortRequest(request: unknown, bodyHash: string, context: ShortContext): ReadBody {
  if (!isObject(request)) return invalidBody('body_object');
  const events = request['events'] ?? [];
  if (!Array.isArray(events)) return invalid({ index: -1, field: 'events', rule: 'events_array' });
  if (events.length > maxEventsPerRequest) return tooManyEvents(events.length);
  const typed: JsonObject[] = [];
  const unnamed: UnnamedEvent[] = [];
  for (const [index, event] of events.entries()) {
    const converted = convertEvent(event, index, bodyHash, context);
    if (converted.kind === 'fault') {
      const { field, rule } = converted;
      return invalid({ index, field, rule, ...kindAt({ events }, index, 'short') });
    }
    typed.push(converted.event);
    if (converted.unnamed !== undefined) unnamed.push(converted.unnamed);
  }
  const read = readEvents(typed, context, { sessionOptional: true });
  if (read.kind === 'invalid') return invalid(inShortNames(read.violation));
  if (unnamed.length === 0) return read;
  return { ...read, nameCookieless: (ids) => nameEvents(read.body, unnamed, context, ids) };
}

function invalid(violation: Violation): ReadBody {
  return { kind: 'invalid', violation };
}

/** Half a millisecond of JSON.parse, of a body with a fault in its text. */
const maxBytesForKind = 65_536;

/** A violation of the text: the scanner, which found it, knows the typed shape's kinds alone. */
function withKind(violation: Violation, received: Buffer): ReadBody {
  const { index, eventKind } = violation;
  const isTold = index < 0 || eventKind !== undefined;
  if (isTold || received.length > maxBytesForKind) return invalid(violation);
  return invalid({ ...violation, ...kindAt(JSON.parse(received.toString()), index, 'short') });
}

type Converted = { kind: 'event'; event: JsonObject; unnamed?: UnnamedEvent } | Fault;
interface Fault {
  kind: 'fault';
  field: string;
  rule: Rule;
}

function fault(field: string, rule: Rule): Fault {
  return { kind: 'fault', field, rule };
}

/** Passes values of a wrong type on: the rules of the typed shape refuse them. */
function convertEvent(
  event: unknown,
  index: number,
  bodyHash: string,
  context: ShortContext,
): Converted {
  if (!isObject(event)) return fault('', 'event_object');
  const { name, timestamp, properties } = event;
  if (event['sessionId'] !== undefined && event['session_id'] !== undefined) {
    return fault('sessionId', 'member_spelling');
  }
  const converted = convertProperties(properties ?? {});
  if (converted.kind === 'fault') return converted;
  const { distinctId } = converted;
  const occurTime = timestamp ?? senderTime(context);
  const seed = isAbsent(timestamp) ? context.idempotencyKey : bodyHash;
  const typed = {
    kind: name,
    occurTime,
    autoProperties: converted.auto,
    customProperties: converted.custom,
  };
  if (distinctId !== undefined) {
    const eventId =
      seed === undefined ? randomUUID() : shortEventId(context.projectId, distinctId, seed, index);
    const sessionId = sessionOf(event, context);
    return { kind: 'event', event: { ...typed, eventId, distinctId, sessionId } };
  }
  const standIn = randomUUID();
  const cookieless = { ...typed, eventId: standIn, cookieless: true };
  if (seed === undefined || typeof occurTime !== 'string') {
    return { kind: 'event', event: cookieless };
  }
  return { kind: 'event', event: cookieless, unnamed: { standIn, occurTime, seed, index } };
}

/** The moment of receipt by the sender's clock, which is shifted with all others. */
function senderTime({ receiveTimeMs, timeShiftMs = 0 }: ShortContext): string {
  return new Date(receiveTimeMs - timeShiftMs).toISOString();
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** A text that is no UUID names a visit too, and becomes one. The pipeline finds the visit of an event without any. */
function sessionOf(event: JsonObject, { projectId }: ShortContext): unknown {
  const sent = event['sessionId'] ?? event['session_id'];
  if (typeof sent === 'string' && sent !== '') {
    return isUuid(sent) ? sent : uuidV5(projectId, sent);
  }
  return sent === '' ? undefined : sent;
}

type ConvertedProperties =
  | {
      kind: 'properties';
      distinctId: string | undefined;
      auto: Record<string, unknown>;
      custom: Record<string, unknown>;
    }
  | Fault;

function convertProperties(properties: unknown): ConvertedProperties {
  if (!isObject(properties)) return fault('properties', 'properties_object');
  const auto: Record<string, unknown> = Object.create(null);
  const custom: Record<string, unknown> = Object.create(null);
  let distinctId: string | undefined;
  for (const key in properties) {
    const value = properties[key];
    if (value === null) continue;
    const path = propertyPath('properties', key);
    if (key === 'distinct_id' || key === 'distinctId') {
      if (distinctId !== undefined) return fault(path, 'member_spelling');
      if (typeof value !== 'string' || value === '') return fault(path, 'plain_distinct_id');
      distinctId = value;
      continue;
    }
    const typed = typedValue(value);
    if (typed === undefined) return fault(path, 'plain_value');
    (key.startsWith('$') ? auto : custom)[key] = typed;
  }
  return { kind: 'properties', distinctId, auto, custom };
}

/** Whole numbers that a double holds exactly become int64, all other numbers double. */
function typedValue(value: unknown): JsonObject | undefined {
  switch (typeof value) {
    case 'string':
      return { stringValue: value };
    case 'boolean':
      return { boolValue: value };
    case 'number':
      if (Number.isSafeInteger(value)) return { intValue: String(value) };
      return { doubleValue: value };
    default:
      return undefined;
  }
}

/** Names the place of a violation as the sender's shape does. */
function inShortNames(violation: Violation): Violation {
  const field = violation.field
    .replace(/^kind$/, 'name')
    .replace(/^occurTime$/, 'timestamp')
    .replace(/^distinctId$/, 'properties["distinct_id"]')
    .replace(/^(?:auto|custom)Properties(.*?)(?:\.[a-z]+Value)?$/, 'properties$1');
  return { ...violation, field };
}
