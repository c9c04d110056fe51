// From the bytes of a BatchCreate body to the bytes that are queued, by the readable rules: the way of every body that
// is not JSON of the typed shape. What these rules say of such JSON too is what scan-body.ts, which is faster, is held
// to. Whoever reads a frame may rely on this: no member twice, and no address under any "$ip".

import { isAscii, isUtf8 } from 'node:buffer';
import { fromBinary, type MessageShape, toJson } from '@bufbuild/protobuf';
import { isObject } from '../../../platform/json.ts';
import {
  BatchCreateRequestSchema,
  EventSchema,
} from '../../../proto/gen/sdk/events/v1/events_pb.js';
import type { CookielessIds } from '../../../proto/wire/frame.ts';
import type { Rule } from '../../../proto/wire/rules.ts';
import type { CookielessDays } from '../../cookieless/visitor-ids.ts';
import { newTally, type Tally } from '../event-fields.ts';
import { checkRequest, type RequestOptions } from '../event-rules.ts';
import type { Violation } from '../violation.ts';
import { encodeCanonical } from './canonical.ts';
import { checkText, type Shape } from './request-text.ts';

export type ReadBody =
  | { kind: 'invalid'; violation: Violation }
  | {
      kind: 'valid';
      /** What a frame carries. */
      body: Uint8Array;
      events: number;
      /** How many of them have no identity of their own. */
      cookieless: number;
      cookielessDays: CookielessDays;
      /** To be called with the request's cookieless ids before the body is queued, where events are named by them. */
      nameCookieless?: (ids: CookielessIds) => void;
    };

export interface BodyContext {
  receiveTimeMs: number;
  /** The largest body that is queued, in bytes. */
  maxBodyBytes: number;
}

/** A body of protobuf JSON. What only its text shows is told before what its values show. */
export function readJsonBody(received: Buffer, context: BodyContext): ReadBody {
  const parsed = parseCheckedJson(received, 'typed');
  if (parsed.kind === 'invalid') return parsed;
  const tally = newTally();
  const violation = checkRequest(parsed.value, context.receiveTimeMs, tally);
  if (violation !== undefined) return { kind: 'invalid', violation };
  return sized(encodeCanonical(eventsOf(parsed.value)), tally, context);
}

/** A body of binary protobuf. */
export function readBinaryBody(received: Buffer, context: BodyContext): ReadBody {
  try {
    return readMessage(fromBinary(BatchCreateRequestSchema, received), context);
  } catch {
    return invalidBody('body_protobuf');
  }
}

/** A message that a generic router decoded. */
export function readMessage(
  message: MessageShape<typeof BatchCreateRequestSchema>,
  context: BodyContext,
): ReadBody {
  const events: unknown[] = [];
  for (const [index, event] of message.events.entries()) {
    try {
      events.push(toJson(EventSchema, event));
    } catch {
      // Of all that an event can hold, JSON lacks a form for one thing only: a moment outside the calendar's years.
      return { kind: 'invalid', violation: { index, field: '', rule: 'timestamp_range' } };
    }
  }
  return readEvents(events, context);
}

/** Events in the typed shape that never were text. */
export function readEvents(
  events: readonly unknown[],
  context: BodyContext,
  options: RequestOptions = {},
): ReadBody {
  const tally = newTally();
  const violation = checkRequest({ events }, context.receiveTimeMs, tally, options);
  if (violation !== undefined) return { kind: 'invalid', violation };
  return sized(encodeCanonical(events), tally, context);
}

/** The value of a JSON text that passes checkText, for bodies that are re-encoded anyhow. */
export function parseCheckedJson(
  received: Buffer,
  shape: Shape,
): { kind: 'parsed'; value: unknown } | { kind: 'invalid'; violation: Violation } {
  const text = decodeUtf8(received);
  if (text === undefined) return invalidBody('body_utf8');
  const value = parseJson(text);
  if (value === undefined) return invalidBody('body_json');
  const violation = checkText(text, shape);
  return violation === undefined ? { kind: 'parsed', value } : { kind: 'invalid', violation };
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

export function bodyTooLarge(maxBodyBytes: number): { kind: 'invalid'; violation: Violation } {
  return invalidBody('body_size', `${maxBodyBytes} bytes`);
}

/** Invalid bytes are refused, where TextDecoder and Buffer put U+FFFD in their place. */
function decodeUtf8(bytes: Buffer): string | undefined {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** No JSON text means undefined. */
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
