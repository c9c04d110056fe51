// A request's body into rows. Bodies were validated before they were queued, so this reads and does not judge: what it
// cannot read is refused event by event, with a reason, and goes to the dead letters.
// It is the way of the bodies that scanned-rows.ts leaves, and the oracle of all others.

import { dayMs } from '../../../platform/clock.ts';
import { isObject, type JsonObject } from '../../../platform/json.ts';
import {
  maxOccurTimeAheadMs,
  minOccurTimeMs,
  sessionInactivityMs,
} from '../../../platform/limits.ts';
import type { FrameRequest, RequestContext } from '../../../proto/wire/frame.ts';
import { EventRow, findSlot, type PropertyScalar, variantIndex } from '../../enrich/event-row.ts';
import { parseUuid } from '../uuid.ts';
import { parseTimestampMs } from './validated-timestamp.ts';

/** Why an event, a request or a whole frame cannot become rows. */
export type UnreadableReason =
  | 'frame_unreadable'
  | 'request_unreadable'
  | 'event_unreadable'
  | 'event_id_invalid'
  | 'session_id_invalid'
  | 'identity_missing'
  | 'kind_missing'
  | 'occur_time_out_of_range'
  | 'property_unreadable';

/** The rows of one request, `count` of them in use; they are the next request's rows afterwards. */
export interface RequestRows {
  context: RequestContext;
  readonly rows: EventRow[];
  count: number;
}

/** An event that became no row. */
export interface UnreadableEvent {
  /** The event's place in its request; undefined where the whole request is refused. */
  index: number | undefined;
  reason: UnreadableReason;
  /** What was refused, as JSON. */
  event: string;
}

/** Room for rows, to be handed to `decodeRequest` again and again. */
export function createRequestRows(): RequestRows {
  return {
    context: { projectId: '', credential: 'private', receiveTimeMs: 0 },
    rows: [],
    count: 0,
  };
}

/** Fills `into` with the events of a request, in order, and returns those that could not be read. */
export function decodeRequest(request: FrameRequest, into: RequestRows): UnreadableEvent[] {
  into.context = request.context;
  into.count = 0;
  const events = parseEvents(request.body);
  if (events === undefined) return [unreadableRequest(request, into)];
  const unreadable: UnreadableEvent[] = [];
  for (let index = 0; index < events.length; index++) {
    const row = rowAt(into, into.count);
    const event = events[index];
    const reason = isObject(event) ? readEvent(event, row, request.context) : 'event_unreadable';
    if (reason === undefined) into.count++;
    else if (reason !== 'dropped') unreadable.push({ index, reason, event: JSON.stringify(event) });
  }
  return unreadable;
}

/** Leaves no row of a request. */
export function unreadableRequest(request: FrameRequest, into: RequestRows): UnreadableEvent {
  into.count = 0;
  return { index: undefined, reason: 'request_unreadable', event: textOf(request.body) };
}

/** The events of a body; undefined where it is not JSON of a batch. */
function parseEvents(body: Uint8Array): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(textOf(body));
    if (!isObject(parsed)) return undefined;
    const events = parsed['events'] ?? [];
    return Array.isArray(events) ? events : undefined;
  } catch {
    return undefined;
  }
}

function textOf(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}

function rowAt(into: RequestRows, index: number): EventRow {
  const row = into.rows[index] ?? new EventRow();
  into.rows[index] = row;
  row.reset();
  return row;
}

function readEvent(
  event: JsonObject,
  row: EventRow,
  context: RequestContext,
): UnreadableReason | 'dropped' | undefined {
  const eventId = event['eventId'] ?? event['event_id'];
  if (typeof eventId !== 'string' || !parseUuid(eventId, row.eventId)) return 'event_id_invalid';
  const kind = event['kind'];
  if (typeof kind !== 'string' || kind === '') return 'kind_missing';
  row.kind = kind;
  const occurTime = event['occurTime'] ?? event['occur_time'];
  row.occurTimeMs = typeof occurTime === 'string' ? parseTimestampMs(occurTime) : Number.NaN;
  const inRange =
    row.occurTimeMs >= minOccurTimeMs &&
    row.occurTimeMs <= context.receiveTimeMs + maxOccurTimeAheadMs;
  if (!inRange) return 'occur_time_out_of_range';
  const whose = readIdentity(event, row, context);
  if (whose !== undefined) return whose;
  const read =
    readAutoProperties(event['autoProperties'] ?? event['auto_properties'], row) &&
    readCustomProperties(event['customProperties'] ?? event['custom_properties'], row);
  return read ? undefined : 'property_unreadable';
}

function readIdentity(
  event: JsonObject,
  row: EventRow,
  context: RequestContext,
): UnreadableReason | 'dropped' | undefined {
  row.cookieless = event['cookieless'] === true;
  row.otherId = '';
  const sessionId = event['sessionId'] ?? event['session_id'];
  row.sessionDerived = sessionId === undefined || sessionId === null;
  if (row.sessionDerived) row.sessionId.fill(0);
  else if (typeof sessionId !== 'string' || !parseUuid(sessionId, row.sessionId)) {
    return 'session_id_invalid';
  }
  if (row.cookieless) {
    const identity = cookielessIdentity(context, row.occurTimeMs);
    if (identity === undefined) return 'dropped';
    row.distinctId = identity.distinctId;
    row.otherId = identity.otherId;
    return undefined;
  }
  const distinctId = event['distinctId'] ?? event['distinct_id'];
  if (typeof distinctId !== 'string' || distinctId === '') return 'identity_missing';
  row.distinctId = distinctId;
  return undefined;
}

/** What a cookieless event's visitor is called. */
export interface CookielessIdentity {
  distinctId: string;
  /** Beyond the nearest midnight, where a session may go on over it; '' for nobody. */
  otherId: string;
}

/** By the event's own day. Undefined without an id of it: ingest has dropped the event, and told its sender so. */
export function cookielessIdentity(
  { receiveTimeMs, cookieless }: RequestContext,
  occurTimeMs: number,
): CookielessIdentity | undefined {
  const { today, yesterday } = cookieless ?? {};
  const todayMs = Math.floor(receiveTimeMs / dayMs) * dayMs;
  const isToday = occurTimeMs >= todayMs && occurTimeMs < todayMs + dayMs;
  const isYesterday = occurTimeMs < todayMs && occurTimeMs >= todayMs - dayMs;
  const own = isToday ? today : isYesterday ? yesterday : undefined;
  if (own === undefined) return undefined;
  const isAtMidnight = Math.abs(occurTimeMs - todayMs) <= sessionInactivityMs;
  const other = isAtMidnight ? (isToday ? yesterday : today) : undefined;
  return { distinctId: own, otherId: other ?? '' };
}

function readAutoProperties(map: unknown, row: EventRow): boolean {
  if (map === undefined || map === null) return true;
  if (!isObject(map)) return false;
  for (const key in map) {
    const value = map[key];
    if (!isObject(value)) return false;
    const slot = findSlot(key);
    if (slot !== undefined) {
      row.present |= 1 << slot;
      const text = value['stringValue'] ?? value['string_value'];
      if (slot < row.texts.length && typeof text === 'string' && text !== '') {
        row.texts[slot] = text;
        continue;
      }
    }
    if (!readValue(key, value, row)) return false;
  }
  return true;
}

function readCustomProperties(map: unknown, row: EventRow): boolean {
  if (map === undefined || map === null) return true;
  if (!isObject(map)) return false;
  for (const key in map) {
    const value = map[key];
    if (!isObject(value) || !readValue(key, value, row)) return false;
  }
  return true;
}

/** Adds the one variant of a PropertyValue that is set; false where there is none. */
function readValue(key: string, value: JsonObject, row: EventRow): boolean {
  for (const name in value) {
    const held = value[name];
    if (held === null) continue;
    switch (name) {
      case 'stringValue':
      case 'string_value':
        return add(row, key, variantIndex.stringValue, typeof held === 'string' ? held : undefined);
      case 'intValue':
      case 'int_value':
        return add(row, key, variantIndex.intValue, toInt64(held));
      case 'doubleValue':
      case 'double_value':
        return add(row, key, variantIndex.doubleValue, toDouble(held));
      case 'boolValue':
      case 'bool_value':
        return add(row, key, variantIndex.boolValue, typeof held === 'boolean' ? held : undefined);
      case 'timestampValue':
      case 'timestamp_value':
        return add(row, key, variantIndex.timestampValue, toTimeMs(held));
      default:
        // A field that a newer definition knows: ignored, as everywhere.
        continue;
    }
  }
  return false;
}

function add(
  row: EventRow,
  key: string,
  variant: number,
  value: PropertyScalar | undefined,
): boolean {
  if (value === undefined) return false;
  row.add(key, variant, value);
  return true;
}

/** An int64 in any spelling that protobuf JSON allows: exact, as a number where that is safe. */
function toInt64(held: unknown): number | bigint | undefined {
  if (typeof held !== 'string' && typeof held !== 'number') return undefined;
  const number = Number(held);
  if (Number.isSafeInteger(number)) return number === 0 ? 0 : number;
  return typeof held === 'string' ? toExactInt64(held) : undefined;
}

/** An int64 beyond 2^53 as decimal text, which may have a fraction of zeros or an exponent. */
function toExactInt64(text: string): bigint | undefined {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const shift = Number(exponent) - fraction.length;
  if (Math.abs(shift) > 1_024) return undefined;
  const scale = 10n ** BigInt(Math.abs(shift));
  const digits = BigInt(whole + fraction);
  if (shift < 0 && digits % scale !== 0n) return undefined;
  const magnitude = shift < 0 ? digits / scale : digits * scale;
  const exact = sign === '-' ? -magnitude : magnitude;
  return BigInt.asIntN(64, exact) === exact ? exact : undefined;
}

function toDouble(held: unknown): number | undefined {
  if (typeof held !== 'string' && typeof held !== 'number') return undefined;
  const number = Number(held);
  return Number.isFinite(number) ? number : undefined;
}

function toTimeMs(held: unknown): number | undefined {
  if (typeof held !== 'string') return undefined;
  const ms = parseTimestampMs(held);
  return Number.isNaN(ms) ? undefined : ms;
}
