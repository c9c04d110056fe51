// Counts the fields of a binary protobuf message before it is decoded. A decoder makes an object for every two bytes of
// empty messages: 16 s and a gigabyte for 8 MB. The decoder reads a known field by its type, whatever its tag says, and
// on behind the end of its message: a body that it would split into other fields than those counted is refused. So is
// every other body that it cannot decode, because the Connect router calls that an internal error.

import { isUtf8 } from 'node:buffer';
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { maxBodyDepth, maxFieldsPerBody, maxMembersPerObject } from '../../limits.ts';

export type FieldFault =
  /** The request's own list holds more than `maxItems`; `count` is exact up to 10,000. */
  | { kind: 'items'; field: string; count: string }
  /** One message has more than 10,000 fields besides. */
  | { kind: 'members' }
  /** All messages together have more than `maxFieldsPerBody`. */
  | { kind: 'fields' }
  /** Messages nest deeper than any reader takes them. */
  | { kind: 'depth' }
  /** The bytes are no such message. */
  | { kind: 'undecodable' };

const undecodable: FieldFault = { kind: 'undecodable' };

/** The first bound that `body`, a message of this type, breaks. */
export function fieldFault(
  message: DescMessage,
  body: Uint8Array,
  maxItems: number,
): FieldFault | undefined {
  const count = { reader: new BinaryReader(body), depth: 0, fields: 0 };
  try {
    return faultOfRequest(message, body.length, maxItems, count);
  } catch {
    return undecodable;
  }
}

/** Of 64 bits, seven in each byte. */
const maxVarintBytes = 10;

interface Count {
  reader: BinaryReader;
  /** How many messages enclose the current message. */
  depth: number;
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

function faultIn(message: DescMessage, end: number, count: Count): FieldFault | undefined {
  const { reader } = count;
  if (++count.depth === maxBodyDepth) return { kind: 'depth' };
  let members = 0;
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    if (++members > maxMembersPerObject) return { kind: 'members' };
    const field = message.fields.find((known) => known.number === number);
    const fault = faultInField(field, number, wireType, count);
    if (fault !== undefined) return fault;
  }
  count.depth--;
  return reader.pos === end ? undefined : undecodable;
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
  if (field === undefined) {
    // No definition has a group, and skipping groups in groups would fill the stack.
    if (wireType === WireType.StartGroup) return undecodable;
    reader.skip(wireType, number);
    return undefined;
  }
  const isWhole = wireType === WireType.LengthDelimited;
  switch (field.fieldKind) {
    case 'message':
      return isWhole ? faultInMessage(field.message, count) : undecodable;
    case 'map':
      return isWhole ? faultInEntry(field, count) : undecodable;
    case 'list':
      if (field.message !== undefined) {
        return isWhole ? faultInMessage(field.message, count) : undecodable;
      }
      return isWhole ? faultInPacked(field, count) : faultInScalar(field, wireType, count);
    default:
      return faultInScalar(field, wireType, count);
  }
}

function faultInMessage(message: DescMessage, count: Count): FieldFault | undefined {
  const end = count.reader.uint32() + count.reader.pos;
  return faultIn(message, end, count);
}

/** An entry of a map is a message with its key as field 1 and its value as field 2. The decoder skips no others. */
function faultInEntry(map: DescField & { fieldKind: 'map' }, count: Count): FieldFault | undefined {
  const { reader } = count;
  const end = reader.uint32() + reader.pos;
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    if (++count.fields > maxFieldsPerBody) return { kind: 'fields' };
    const isValue = number === 2;
    if (!isValue && number !== 1) return undecodable;
    const expected = isValue ? wireTypeOf(map) : wireTypeOfScalar(map.mapKey);
    if (wireType !== expected) return undecodable;
    const fault =
      isValue && map.message !== undefined
        ? faultInMessage(map.message, count)
        : faultInValue(isValue ? map.scalar : map.mapKey, wireType, count);
    if (fault !== undefined) return fault;
  }
  return reader.pos === end ? undefined : undecodable;
}

/** A list of numbers in one piece; of texts, one of them. */
function faultInPacked(field: DescField, count: Count): FieldFault | undefined {
  const { reader } = count;
  const itemType = wireTypeOf(field);
  if (itemType === WireType.LengthDelimited) return faultInValue(field.scalar, itemType, count);
  const end = reader.uint32() + reader.pos;
  while (reader.pos < end) {
    const fault = faultInValue(field.scalar, itemType, count);
    if (fault !== undefined) return fault;
  }
  return reader.pos === end ? undefined : undecodable;
}

function faultInScalar(field: DescField, wireType: WireType, count: Count): FieldFault | undefined {
  if (wireType !== wireTypeOf(field)) return undecodable;
  return faultInValue(field.scalar, wireType, count);
}

/** Reads one value; an enum has no scalar type. */
function faultInValue(
  scalar: ScalarType | undefined,
  wireType: WireType,
  { reader }: Count,
): FieldFault | undefined {
  if (scalar === ScalarType.STRING) return isText(reader.bytes()) ? undefined : undecodable;
  const value = reader.skip(wireType);
  return wireType === WireType.Varint && value.length > maxVarintBytes ? undecodable : undefined;
}

/** Most texts are short and ASCII: this loop then costs less than a call of isUtf8. */
function isText(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) {
    if ((bytes[at] ?? 0) >= 0x80) return isUtf8(bytes.subarray(at));
  }
  return true;
}

/** The form of one value of the field: of an item of a list, of a value of a map. */
function wireTypeOf({ message, scalar }: DescField): WireType {
  if (message !== undefined) return WireType.LengthDelimited;
  // An enum is a number.
  return wireTypeOfScalar(scalar ?? ScalarType.INT32);
}

function wireTypeOfScalar(scalar: ScalarType): WireType {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WireType.Bit64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WireType.Bit32;
    default:
      return WireType.Varint;
  }
}

function tooMany(field: string, count: string): FieldFault {
  return { kind: 'items', field, count };
}
