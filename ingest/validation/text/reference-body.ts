// The reference path from the bytes of a BatchCreate body to the bytes that are queued. Takes every body that is not
// JSON of the typed shape, and is the oracle of scan-body.ts, the fast path for that JSON. Readers of a frame may rely
// on two things: no member is there twice, and no address stands under any "$ip".

import { isAscii, isUtf8 } from 'node:buffer';
import { type DescMessage, fromBinary, type MessageShape, toJson } from '@bufbuild/protobuf';
import { type FieldFault, fieldFault } from '../../../platform/http/bodies/message-fields.ts';
import { isObject } from '../../../platform/json.ts';
import { jsonFault } from '../../../platform/json-fault.ts';
import { maxEventsPerRequest } from '../../../platform/limits.ts';
import {
  BatchCreateRequestSchema,
  EventSchema,
} from '../../../proto/gen/sdk/events/v1/events_pb.js';
import type { CookielessIds } from '../../../proto/wire/frame.ts';
import type { Rule } from '../../../proto/wire/rules.ts';
import type { CookielessDays } from '../../cookieless/visitor-ids.ts';
import { newTally, type Tally } from '../event-fields.ts';
import { checkRequest, kindOf, type RequestOptions } from '../event-rules.ts';
import type { Violation } from '../violation.ts';
import { encodeCanonical } from './canonical.ts';
import { checkText, type Shape } from './request-text.ts';

export type ReadBody =
  | { kind: 'invalid'; violation: Violation }
  | {
      kind: 'valid';
      /** The bytes that a frame carries. */
      body: Uint8Array;
      events: number;
      /** Events that say `cookieless: true`. */
      cookieless: number;
      cookielessDays: CookielessDays;
      /** Writes the event ids that depend on the request's cookieless ids: call it before the body is queued. */
      nameCookieless?: (ids: CookielessIds) => void;
    };

export interface BodyContext {
  receiveTimeMs: number;
  /** Added to each occurTime before any rule on time is asked; 0 unless given. */
  timeShiftMs?: number;
  /** The largest body that is queued, in bytes. */
  maxBodyBytes: number;
  /** How long before receipt an event may have occurred: Infinity with a private key. */
  maxAgeMs: number;
  /** An event that names its user may leave the session id out. */
  sessionOptional?: boolean;
}

/** A body of protobuf JSON. A fault that only the text shows comes before the faults of its values. */
export function readJsonBody(received: Buffer, context: BodyContext): ReadBody {
  const parsed = parseCheckedJson(received, 'typed');
  if (parsed.kind === 'invalid') return parsed;
  const tally = newTally();
  const violation = checkRequest(parsed.value, context.receiveTimeMs, tally, context);
  if (violation !== undefined) return { kind: 'invalid', violation };
  return sized(encodeCanonical(eventsOf(parsed.value)), tally, context);
}

/** A body of binary protobuf. */
export function readBinaryBody(received: Buffer, context: BodyContext): ReadBody {
  const decoded = decodeBinary(BatchCreateRequestSchema, received);
  return decoded.kind === 'invalid' ? decoded : readMessage(decoded.message, context);
}

/** The message that a binary body holds, without the fields that no rule knows. */
export function decodeBinary<Desc extends DescMessage>(
  message: Desc,
  received: Uint8Array,
): { kind: 'decoded'; message: MessageShape<Desc> } | { kind: 'invalid'; violation: Violation } {
  const fault = fieldFault(message, received, maxEventsPerRequest);
  if (fault !== undefined) return invalidFields(fault);
  try {
    const decoded = fromBinary(message, received, { readUnknownFields: false });
    return { kind: 'decoded', message: decoded };
  } catch {
    return invalidBody('body_protobuf');
  }
}

function invalidFields(fault: FieldFault): { kind: 'invalid'; violation: Violation } {
  switch (fault.kind) {
    case 'items':
      return tooManyEvents(fault.count);
    case 'members':
      return invalidBody('members_count');
    case 'fields':
      return invalidBody('fields_count');
    case 'depth':
      return invalidBody('body_depth');
    case 'undecodable':
      return invalidBody('body_protobuf');
    default:
      return fault satisfies never;
  }
}

/** A message that the Connect router decoded. */
export function readMessage(
  message: MessageShape<typeof BatchCreateRequestSchema>,
  context: BodyContext,
): ReadBody {
  if (message.events.length > maxEventsPerRequest) return tooManyEvents(message.events.length);
  const events: unknown[] = [];
  for (const [index, event] of message.events.entries()) {
    try {
      events.push(toJson(EventSchema, event));
    } catch {
      // JSON has no form for one value that an event can hold: a moment outside the years 1 to 9999.
      return { kind: 'invalid', violation: { index, field: '', rule: 'timestamp_range' } };
    }
  }
  return readEvents(events, context);
}

/** Events in the typed shape that did not come as JSON text. */
export function readEvents(
  events: readonly unknown[],
  context: BodyContext,
  options: Omit<RequestOptions, 'maxAgeMs'> = {},
): ReadBody {
  const tally = newTally();
  const { receiveTimeMs, timeShiftMs, maxAgeMs } = context;
  const limits = { ...options, ...(timeShiftMs !== undefined && { timeShiftMs }), maxAgeMs };
  const violation = checkRequest({ events }, receiveTimeMs, tally, limits);
  if (violation !== undefined) return { kind: 'invalid', violation };
  return sized(encodeCanonical(events), tally, context);
}

export type ParsedJson =
  | { kind: 'parsed'; value: unknown }
  | { kind: 'invalid'; violation: Violation };

/** The value of a JSON body whose text passes checkText. */
export function parseCheckedJson(received: Buffer, shape: Shape): ParsedJson {
  const text = decodeUtf8(received);
  if (text === undefined) return invalidBody('body_utf8');
  const value = parseJson(text);
  if (value === undefined) return invalidBody('body_json', jsonFault(received));
  const violation = checkText(text, shape);
  if (violation === undefined) return { kind: 'parsed', value };
  return { kind: 'invalid', violation: { ...violation, ...kindAt(value, violation.index, shape) } };
}

/** The kind of one event of a request, for its violation. */
export function kindAt(
  request: unknown,
  index: number,
  shape: Shape,
): Pick<Violation, 'eventKind'> {
  const event = index < 0 ? undefined : eventsOf(request)[index];
  return kindOf(isObject(event) ? event[shape === 'typed' ? 'kind' : 'name'] : undefined);
}

export function invalidBody(
  rule: Rule,
  detail?: string,
): { kind: 'invalid'; violation: Violation } {
  const violation: Violation = { index: -1, field: 'body', rule };
  return {
    kind: 'invalid',
    violation: detail === undefined ? violation : { ...violation, detail },
  };
}

/** A valid body, unless it is too large to be queued. */
export function sized(body: Uint8Array, tally: Tally, { maxBodyBytes }: BodyContext): ReadBody {
  if (body.length > maxBodyBytes) return bodyTooLarge(maxBodyBytes);
  const { events, cookieless } = tally;
  const cookielessDays = {
    events: cookieless,
    today: tally.cookielessToday,
    yesterday: tally.cookielessYesterday,
    atMidnight: tally.cookielessAtMidnight,
  };
  return { kind: 'valid', body, events, cookieless, cookielessDays };
}

export function tooManyEvents(events: number | string): { kind: 'invalid'; violation: Violation } {
  const detail = `got ${events}`;
  return {
    kind: 'invalid',
    violation: { index: -1, field: 'events', rule: 'events_count', detail },
  };
}

export function bodyTooLarge(maxBodyBytes: number): { kind: 'invalid'; violation: Violation } {
  return invalidBody('body_size', `${maxBodyBytes} bytes`);
}

/** Undefined for invalid bytes, which TextDecoder and Buffer would replace with U+FFFD. */
function decodeUtf8(bytes: Buffer): string | undefined {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** Undefined where `text` is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function eventsOf(request: unknown): readonly unknown[] {
  const events = isObject(request) ? request['events'] : undefined;
  return Array.isArray(events) ? events : [];
}
