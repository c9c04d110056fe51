// The reference path of a body: JSON.parse, then an object per event. It takes the bodies that the fast path
// (scanned-rows.ts) leaves, and is the oracle of the fast path in tests. Bodies were validated before they were queued,
// so nothing is validated again: an event that cannot be read goes to the dead letters, with its reason.

import { isObject, type JsonObject } from '../../../platform/json.ts';
import { maxOccurTimeAheadMs, minOccurTimeMs } from '../../../platform/limits.ts';
import type { FrameRequest, RequestContext } from '../../../proto/wire/frame.ts';
import { EventRow } from '../../enrich/event-row.ts';
import type { RequestFacts } from '../../enrich/steps.ts';
import type { UnreadableReason } from '../thread-messages.ts';
import { parseUuid } from '../uuid.ts';
import { cookielessIdentity } from './cookieless-identity.ts';
import { readAutoProperties, readCustomProperties } from './property-values.ts';
import { parseTimestampMs } from './validated-timestamp.ts';

/** The rows of one request, the first `count` in use. The next request reuses them, so nobody keeps a row. */
interface RequestRows {
  facts: RequestFacts;
  readonly rows: EventRow[];
  count: number;
}

/** An event, or a whole request, that becomes no row. */
export interface UnreadableEvent {
  /** The event's place in its request; undefined for the whole request. */
  index: number | undefined;
  reason: UnreadableReason;
  /** The event as JSON, or the request's body as text. */
  content: string;
}

/** Room for rows, to be handed to `decodeRequest` again and again. */
export function createRequestRows(): RequestRows {
  return { facts: { credential: 'private' }, rows: [], count: 0 };
}

/** Fills `into` with the events of a request, in order, and returns the events that cannot be read. */
export function decodeRequest(request: FrameRequest, into: RequestRows): UnreadableEvent[] {
  into.facts = request.context;
  into.count = 0;
  const events = parseEvents(request.body);
  if (events === undefined) return [discardRequest(request, into)];
  const unreadable: UnreadableEvent[] = [];
  for (let index = 0; index < events.length; index++) {
    const row = rowAt(into, into.count);
    const event = events[index];
    const reason = isObject(event) ? readEvent(event, row, request.context) : 'event_unreadable';
    if (reason === undefined) into.count++;
    else if (reason !== 'dropped') {
      unreadable.push({ index, reason, content: JSON.stringify(event) });
    }
  }
  return unreadable;
}

/** Empties `into` and returns the whole request as unreadable. */
export function discardRequest(request: FrameRequest, into: RequestRows): UnreadableEvent {
  into.count = 0;
  return { index: undefined, reason: 'request_unreadable', content: textOf(request.body) };
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

/** Undefined where the row is complete; 'dropped' where ingest has dropped the event and told its sender so. */
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
  const sentMs = typeof occurTime === 'string' ? parseTimestampMs(occurTime) : Number.NaN;
  row.occurTimeMs = sentMs + (context.timeShiftMs ?? 0);
  const inRange =
    row.occurTimeMs >= minOccurTimeMs &&
    row.occurTimeMs <= context.receiveTimeMs + maxOccurTimeAheadMs;
  if (!inRange) return 'occur_time_out_of_range';
  const reason = readIdentity(event, row, context);
  if (reason !== undefined) return reason;
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
