// Reads a stored event: the columns of a row of JSONCompactEachRow, and the message made of them. Values keep the type
// that they were sent with: int64 travels as text, times as milliseconds, and each map column has its own variant.
// Selecting events is activity-selection.ts's.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  autoColumns,
  type PropertyVariant,
  propertyMaps,
} from '../../platform/clickhouse/event-columns.ts';
import {
  type PropertyValue,
  PropertyValueSchema,
} from '../../proto/gen/common/v1/property_value_pb.js';
import {
  type ActivityEvent,
  ActivityEventSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import type { Position } from '../cursor.ts';
import type { JsonStandIns } from '../json-codec.ts';

/** SQL for the profile id in hex, before merges; empty for a cookieless visitor, who has no profile. */
const profileIdSql = "if(cookieless, '', lower(hex(millraceProfileHash(project_id, distinct_id))))";

const mapSql = propertyMaps.map(({ column, variant }) =>
  variant === 'timestampValue'
    ? `mapApply((key, value) -> (key, toUnixTimestamp64Milli(value)), ${column})`
    : column,
);

const leading = [
  'toString(event_id)',
  'kind',
  'distinct_id',
  profileIdSql,
  'toString(session_id)',
  'toUnixTimestamp64Milli(occur_time)',
];

/** The columns of `events` that `readStoredEvent` reads. */
export const storedEventSql = [
  ...leading,
  ...autoColumns.map(({ column }) => column),
  ...mapSql,
].join(', ');

/**
 * Takes a row of `storedEventSql`. `standIns` belong to an answer in JSON, and are absent in binary. Throws if a column
 * has another type.
 */
export function readStoredEvent(
  row: readonly unknown[],
  standIns: JsonStandIns | undefined,
): {
  event: ActivityEvent;
  position: Position;
} {
  const occurTimeMs = Number(textAt(row, 5));
  const eventId = textAt(row, 0);
  const autoProperties: Record<string, PropertyValue> = {};
  const customProperties: Record<string, PropertyValue> = {};
  for (const [index, { property }] of autoColumns.entries()) {
    const value = textAt(row, leading.length + index);
    if (value !== '') autoProperties[property] = propertyValue('stringValue', value, standIns);
  }
  for (const [index, { variant }] of propertyMaps.entries()) {
    const map = objectAt(row, leading.length + autoColumns.length + index);
    for (const [key, value] of Object.entries(map)) {
      const target = key.startsWith('$') ? autoProperties : customProperties;
      put(target, key, propertyValue(variant, value, standIns), standIns);
    }
  }
  const event = create(ActivityEventSchema, {
    eventId,
    kind: textAt(row, 1),
    distinctId: textAt(row, 2),
    profileId: textAt(row, 3),
    sessionId: textAt(row, 4),
    occurTime: timestampFromMs(occurTimeMs),
  });
  event.autoProperties = autoProperties;
  event.customProperties = customProperties;
  return { event, position: { timeMs: occurTimeMs, id: eventId } };
}

function propertyValue(
  variant: PropertyVariant,
  value: unknown,
  standIns: JsonStandIns | undefined,
): PropertyValue {
  const message = create(PropertyValueSchema);
  message.value =
    standIns !== undefined && Object.is(value, -0)
      ? { case: 'stringValue', value: standIns.negativeZero }
      : typedValue(variant, value);
  return message;
}

function typedValue(variant: PropertyVariant, value: unknown): PropertyValue['value'] {
  switch (variant) {
    case 'stringValue':
      if (typeof value === 'string') return { case: variant, value };
      break;
    case 'intValue':
      if (typeof value === 'string') return { case: variant, value: BigInt(value) };
      break;
    case 'doubleValue':
      if (typeof value === 'number') return { case: variant, value };
      break;
    case 'boolValue':
      if (typeof value === 'boolean') return { case: variant, value };
      break;
    case 'timestampValue':
      if (typeof value === 'string') {
        return { case: variant, value: timestampFromMs(Number(value)) };
      }
      break;
    default: {
      const unknown: never = variant;
      throw new Error(`no such variant: ${String(unknown)}`);
    }
  }
  throw new Error(`the engine answered a ${typeof value} for a ${variant}`);
}

function put(
  map: Record<string, PropertyValue>,
  key: string,
  value: PropertyValue,
  standIns: JsonStandIns | undefined,
): void {
  if (key !== '__proto__') map[key] = value;
  else if (standIns !== undefined) map[standIns.protoKey] = value;
  // Assigning to __proto__ would set the prototype.
  else Object.defineProperty(map, key, { value, enumerable: true, configurable: true });
}

function textAt(row: readonly unknown[], index: number): string {
  const value = row[index];
  if (typeof value === 'string') return value;
  throw new Error(`the engine answered a ${typeof value} in column ${index}`);
}

function objectAt(row: readonly unknown[], index: number): object {
  const value = row[index];
  if (typeof value === 'object' && value !== null) return value;
  throw new Error(`the engine answered a ${typeof value} in column ${index}`);
}
