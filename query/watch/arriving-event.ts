// An event on its way into the queue, read from a frame for live views: as it was sent, with what the request's context
// says of it. What is derived from agent and page is the pipeline's, which has not seen it yet.

import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { dayMs } from '../../platform/clock.ts';
import { isObject } from '../../platform/json.ts';
import { PropertyValueSchema } from '../../proto/gen/common/v1/property_value_pb.js';
import { type Event, EventSchema } from '../../proto/gen/sdk/events/v1/events_pb.js';
import {
  type ActivityEvent,
  ActivityEventSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import type { FrameRequest, RequestContext } from '../../proto/wire/frame.ts';
import { derivedOnlyProperties, serverOnlyProperties } from '../../proto/wire/server-properties.ts';

/** The name of an event among those of its project: the digits of its id. */
export type EventName = string;

/** The events of a request as JSON; none where it cannot be read. */
export function arrivingEvents({ body }: Pick<FrameRequest, 'body'>): readonly JsonValue[] {
  try {
    const request: unknown = JSON.parse(Buffer.from(body).toString());
    const events = isObject(request) ? request['events'] : undefined;
    return Array.isArray(events) ? events : [];
  } catch {
    return [];
  }
}

/** Undefined where the event cannot be read, or was dropped for want of a cookieless id. */
export function readArrivingEvent(
  json: JsonValue,
  context: RequestContext,
): ActivityEvent | undefined {
  try {
    const event = fromJson(EventSchema, json, { ignoreUnknownFields: true });
    if (event.occurTime !== undefined) event.occurTime = shifted(event.occurTime, context);
    const distinctId = event.cookieless ? visitorOf(event, context) : event.distinctId;
    if (distinctId === undefined) return undefined;
    const { kind, sessionId = '', customProperties } = event;
    const shown = create(ActivityEventSchema, { kind, sessionId, distinctId });
    shown.eventId = event.eventId.toLowerCase();
    if (event.occurTime !== undefined) shown.occurTime = event.occurTime;
    shown.autoProperties = autoProperties(event, context);
    shown.customProperties = customProperties;
    return shown;
  } catch {
    return undefined;
  }
}

/** As the pipeline will store it. */
function shifted(occurTime: Timestamp, { timeShiftMs }: RequestContext): Timestamp {
  if (timeShiftMs === undefined) return occurTime;
  return timestampFromMs(timestampMs(occurTime) + timeShiftMs);
}

export function nameOf(eventId: string): EventName {
  return eventId.replaceAll('-', '').toLowerCase();
}

/** The visitor's id of the event's own UTC day, as ingest has put it into the context. */
function visitorOf(
  { occurTime = timestampFromMs(0) }: Event,
  { receiveTimeMs, cookieless }: RequestContext,
): string | undefined {
  const daysAgo = Math.floor(receiveTimeMs / dayMs) - Math.floor(timestampMs(occurTime) / dayMs);
  if (daysAgo === 0) return cookieless?.today;
  return daysAgo === 1 ? cookieless?.yesterday : undefined;
}

function autoProperties(
  { autoProperties: sent }: Event,
  { credential, location }: RequestContext,
): ActivityEvent['autoProperties'] {
  for (const key of serverOnlyProperties) delete sent[key];
  if (credential === 'private') return sent;
  for (const key of derivedOnlyProperties) delete sent[key];
  const { country, region, city } = location ?? {};
  for (const [key, value] of Object.entries({ $country: country, $region: region, $city: city })) {
    if (value === undefined || value === '') continue;
    sent[key] = create(PropertyValueSchema, { value: { case: 'stringValue', value } });
  }
  return sent;
}
