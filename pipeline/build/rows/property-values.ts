// Properties of protobuf JSON into a row, on the reference path. Values were validated before they were queued: here
// they are only read, and one that cannot be read makes its event unreadable.

import { isObject, type JsonObject } from '../../../platform/json.ts';
import {
  type EventRow,
  findSlot,
  type PropertyScalar,
  variantIndex,
} from '../../enrich/event-row.ts';
import { parseTimestampMs } from './validated-timestamp.ts';

/** Non-empty texts go to their columns, everything else to the maps. False where a value cannot be read. */
export function readAutoProperties(map: unknown, row: EventRow): boolean {
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

/** False where a value cannot be read. */
export function readCustomProperties(map: unknown, row: EventRow): boolean {
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
