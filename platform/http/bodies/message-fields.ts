// Counts the fields of a binary protobuf message before it is decoded. A decoder makes an object for every two bytes of
// empty messages: 16 s and a gigabyte for 8 MB. Values are the decoder's to check.

import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { maxFieldsPerBody, maxMembersPerObject } from '../../limits.ts';

export type FieldFault =
  /** The request's own list holds more than `maxItems`; `count` is exact up to 10,000. */
  | { kind: 'items'; field: string; count: string }
  /** One message has more than 10,000 fields besides. */
  | { kind: 'members' }
  /** All messages together have more than `maxFieldsPerBody`. */
  | { kind: 'fields' };

/** The first bound that `body`, a message of this type, breaks; undefined too for bytes that are no message. */
export function fieldFault(
  message: DescMessage,
  body: Uint8Array,
  maxItems: number,
): FieldFault | undefined {
  const count = { reader: new BinaryReader(body), fields: 0 };
  try {
    return faultOfRequest(message, body.length, maxItems, count);
  } catch {
    return undefined;
  }
}

interface Count {
  reader: BinaryReader;
  /** In all messages that were read. */
  fields: number;
}

function faultOfRequest(
  message: DescMessage,
  end: number,
  maxItems: number,
  count: Count,
): FieldFault | undefined {
  const { reader } = count;
  const items = new Map<string, number>();
  let excess: string | undefined;
  let members = 0;
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    const field = message.fields.find((known) => known.number === number);
    if (field?.fieldKind === 'list') {
      const held = (items.get(field.jsonName) ?? 0) + 1;
      items.set(field.jsonName, held);
      if (held > maxItems) excess ??= field.jsonName;
      if (held > maxMembersPerObject) return tooMany(field.jsonName, `more than ${held - 1}`);
    } else if (++members > maxMembersPerObject) {
      return { kind: 'members' };
    }
    const fault = excess === undefined ? faultInField(field, number, wireType, count) : undefined;
    if (fault !== undefined) return fault;
    if (excess !== undefined) reader.skip(wireType, number);
  }
  return excess === undefined ? undefined : tooMany(excess, String(items.get(excess)));
}

/** A message that holds itself too often fills the stack, as it would its decoder's. */
function faultIn(message: DescMessage, end: number, count: Count): FieldFault | undefined {
  const { reader } = count;
  let members = 0;
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    if (++members > maxMembersPerObject) return { kind: 'members' };
    const field = message.fields.find((known) => known.number === number);
    const fault = faultInField(field, number, wireType, count);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Reads the value behind a tag. */
function faultInField(
  field: DescField | undefined,
  number: number,
  wireType: WireType,
  count: Count,
): FieldFault | undefined {
  const { reader } = count;
  if (++count.fields > maxFieldsPerBody) return { kind: 'fields' };
  if (wireType !== WireType.LengthDelimited || field?.message === undefined) {
    reader.skip(wireType, number);
    return undefined;
  }
  const end = reader.uint32() + reader.pos;
  const fault =
    field.fieldKind === 'map'
      ? faultInEntry(field, end, count)
      : faultIn(field.message, end, count);
  if (fault === undefined) reader.pos = end;
  return fault;
}

/** An entry of a map is a message with its key as field 1 and its value as field 2. */
function faultInEntry(map: DescField, end: number, count: Count): FieldFault | undefined {
  const { reader } = count;
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    if (++count.fields > maxFieldsPerBody) return { kind: 'fields' };
    if (number !== 2 || wireType !== WireType.LengthDelimited || map.message === undefined) {
      reader.skip(wireType, number);
      continue;
    }
    const valueEnd = reader.uint32() + reader.pos;
    const fault = faultIn(map.message, valueEnd, count);
    if (fault !== undefined) return fault;
    reader.pos = valueEnd;
  }
  return undefined;
}

function tooMany(field: string, count: string): FieldFault {
  return { kind: 'items', field, count };
}
