// Whether a body would become too many objects, told from its bytes before the Connect router decodes it: an empty
// message takes two bytes on the wire and up to a kilobyte in memory. What the messages mean is not looked at.

import type { DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { maxEventsPerRequest, maxPropertiesPerMap } from '../../limits.ts';

/** As many as the largest valid request has: each property of each event, and the event itself. */
export const maxMessages = maxEventsPerRequest * (maxPropertiesPerMap + 2);
/** A message with a text, a key and their two wrappings. */
const maxFields = 4 * maxMessages;
/** The shortest message on the wire: a tag and a length. */
const minMessageBytes = 2;
const maxDepth = 100;

/** False for bytes that are no message: decoding them fails. */
export function holdsTooMany(desc: DescMessage, bytes: Uint8Array, isJson: boolean): boolean {
  if (bytes.length <= minMessageBytes * maxMessages) return false;
  return isJson ? jsonHoldsTooMany(bytes) : binaryHoldsTooMany(desc, bytes);
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const openBrace = 0x7b;

/** Counts objects and arrays. */
function jsonHoldsTooMany(bytes: Uint8Array): boolean {
  let count = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) isText = !isText;
    else if (isText) at += byte === backslash ? 1 : 0;
    else if ((byte === openBrace || byte === openBracket) && ++count > maxMessages) return true;
  }
  return false;
}

function binaryHoldsTooMany(desc: DescMessage, bytes: Uint8Array): boolean {
  const counts = { messages: 0, fields: 0 };
  try {
    return count(messagesOf(desc), new BinaryReader(bytes), bytes.length, 0, counts);
  } catch {
    return false;
  }
}

/** Counts until `end`; true as soon as there are too many. */
function count(
  messages: Messages,
  reader: BinaryReader,
  end: number,
  depth: number,
  counts: { messages: number; fields: number },
): boolean {
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    if (++counts.fields > maxFields) return true;
    const inner = messages.get(number);
    if (inner === undefined || wireType !== WireType.LengthDelimited || depth === maxDepth) {
      reader.skip(wireType, number);
      continue;
    }
    if (!inner.isEntry && ++counts.messages > maxMessages) return true;
    const innerEnd = reader.uint32() + reader.pos;
    if (count(inner.messages(), reader, innerEnd, depth + 1, counts)) return true;
  }
  return false;
}

/** The fields of a message that hold messages, by number. */
type Messages = ReadonlyMap<number, Inner>;

interface Inner {
  /** An entry of a map has a key and a value, and no object of its own. */
  isEntry: boolean;
  messages: () => Messages;
}

const known = new WeakMap<DescMessage, Messages>();
/** Of an entry of a map. */
const valueField = 2;

function messagesOf(desc: DescMessage): Messages {
  const found = known.get(desc);
  if (found !== undefined) return found;
  const messages = new Map<number, Inner>();
  for (const { number, fieldKind, message } of desc.fields) {
    const inner = message && { isEntry: false, messages: () => messagesOf(message) };
    if (fieldKind === 'map') {
      const entry: Messages = new Map(inner && [[valueField, inner]]);
      messages.set(number, { isEntry: true, messages: () => entry });
    } else if (inner !== undefined) messages.set(number, inner);
  }
  known.set(desc, messages);
  return messages;
}
