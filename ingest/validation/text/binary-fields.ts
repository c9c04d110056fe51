// Counts the fields of a binary protobuf body before it is decoded. A decoder makes an object for every two bytes of a
// body of empty messages: 16 s and a gigabyte for 8 MB. Values are the decoder's to check.

import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import {
  maxEventsPerRequest,
  maxFieldsPerBody,
  maxMembersPerObject,
} from '../../../platform/limits.ts';
import type { Rule } from '../../../proto/wire/rules.ts';
import type { Violation } from '../violation.ts';

/** The first bound that `body`, a message of this type, breaks; undefined too for bytes that are no message. */
export function fieldsViolation(message: DescMessage, body: Uint8Array): Violation | undefined {
  const count = { reader: new BinaryReader(body), fields: 0 };
  try {
    return violationIn(message, body.length, true, count);
  } catch {
    return undefined;
  }
}

interface Count {
  reader: BinaryReader;
  /** In all messages that were read. */
  fields: number;
}

/** Reads the message that ends at `end`. One that holds itself too often fills the stack, as it would its decoder's. */
function violationIn(
  message: DescMessage,
  end: number,
  isRequest: boolean,
  count: Count,
): Violation | undefined {
  const { reader } = count;
  let members = 0;
  let events = 0;
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    const field = message.fields.find((known) => known.number === number);
    if (isRequest && field?.fieldKind === 'list') {
      if (++events > maxMembersPerObject) return tooMany(`more than ${maxMembersPerObject}`);
    } else {
      if (++members > maxMembersPerObject) return broken('members_count');
      if (++count.fields > maxFieldsPerBody) return broken('fields_count');
    }
    if (wireType !== WireType.LengthDelimited || events > maxEventsPerRequest) {
      reader.skip(wireType, number);
      continue;
    }
    const valueEnd = reader.uint32() + reader.pos;
    const found = field && violationInField(field, valueEnd, count);
    if (found !== undefined) return found;
    reader.pos = valueEnd;
  }
  return events > maxEventsPerRequest ? tooMany(events) : undefined;
}

/** An entry of a map is a message with its key as field 1 and its value as field 2. */
function violationInField(field: DescField, end: number, count: Count): Violation | undefined {
  if (field.message === undefined) return undefined;
  if (field.fieldKind !== 'map') return violationIn(field.message, end, false, count);
  const { reader } = count;
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    if (++count.fields > maxFieldsPerBody) return broken('fields_count');
    if (number !== 2 || wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
      continue;
    }
    const valueEnd = reader.uint32() + reader.pos;
    const found = violationIn(field.message, valueEnd, false, count);
    if (found !== undefined) return found;
    reader.pos = valueEnd;
  }
  return undefined;
}

function tooMany(events: number | string): Violation {
  return { index: -1, field: 'events', rule: 'events_count', detail: `got ${events}` };
}

function broken(rule: Rule): Violation {
  return { index: -1, field: 'body', rule };
}
