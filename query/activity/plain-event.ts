// An event with plain values, for feeds: what stored-event.ts reads, without its types.

import { create, type JsonObject, type JsonValue } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { PropertyValue } from '../../proto/gen/common/v1/property_value_pb.js';
import {
  type ActivityEvent,
  type FeedEvent,
  FeedEventSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import type { JsonStandIns } from '../json-codec.ts';

/** `standIns` belong to an answer in JSON, and are absent in binary; the event was read without any. */
export function plainEvent(event: ActivityEvent, standIns: JsonStandIns | undefined): FeedEvent {
  const { eventId, kind, distinctId, sessionId, occurTime } = event;
  return create(FeedEventSchema, {
    ...{ eventId, kind, distinctId, sessionId },
    ...(occurTime !== undefined && { occurTime }),
    autoProperties: plainProperties(event.autoProperties, standIns),
    customProperties: plainProperties(event.customProperties, standIns),
  });
}

function plainProperties(
  properties: Readonly<Record<string, PropertyValue>>,
  standIns: JsonStandIns | undefined,
): JsonObject {
  const plain: JsonObject = {};
  for (const [key, { value }] of Object.entries(properties)) {
    const name = key === '__proto__' ? (standIns?.protoKey ?? key) : key;
    // Assigning to __proto__ would set the prototype.
    Object.defineProperty(plain, name, {
      ...{ value: plainValue(value), enumerable: true, configurable: true, writable: true },
    });
  }
  return plain;
}

function plainValue(value: PropertyValue['value']): JsonValue {
  switch (value.case) {
    case 'stringValue':
    case 'boolValue':
    case 'doubleValue':
      return value.value;
    case 'intValue': {
      const number = Number(value.value);
      return Number.isSafeInteger(number) ? number : String(value.value);
    }
    case 'timestampValue':
      return new Date(timestampMs(value.value)).toISOString();
    case undefined:
      return null;
    default:
      return value satisfies never;
  }
}
