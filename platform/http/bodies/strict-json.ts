// Checks what protobuf-es does not when it reads a request's JSON: it takes an unknown enum name for no value, and 30
// February for 2 March; and it does not say which field holds a value that it refuses. Lists are bounded here too,
// before protobuf-es makes messages of their items.

import {
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  ScalarType,
} from '@bufbuild/protobuf';
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';

import { isObject } from '../../json.ts';
import { invalidArgument } from '../answers/invalid-argument.ts';

/**
 * The most items of any list in a request: filters have a thousand values together. The methods bound each list closer;
 * this one is looked at before a message is made of each item.
 */
const maxListItems = 1_000;

/** For Connect's JSON options of a method whose requests are `input`. Throws invalid_argument that names the field. */
export function strictDecoder(input: DescMessage): { decode(bytes?: Uint8Array): string } {
  return {
    decode(bytes) {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      const json: JsonValue = JSON.parse(text);
      checkMessage(input, json, '');
      return text;
    },
  };
}

function checkMessage(desc: DescMessage, json: JsonValue, path: string): void {
  if (desc.typeName === TimestampSchema.typeName) checkMoment(json, path);
  if (desc.typeName === DurationSchema.typeName) checkDuration(json, path);
  if (desc.typeName.startsWith('google.protobuf.') || (json === null && path !== '')) return;
  if (!isObject(json)) throw invalidArgument(path || 'body', 'must be an object');
  const values = new Map(Object.entries(json));
  for (const field of desc.fields) {
    const fieldPath = path === '' ? field.jsonName : `${path}.${field.jsonName}`;
    for (const name of new Set([field.jsonName, field.name])) {
      const value = values.get(name);
      if (value !== undefined) checkField(field, value, fieldPath);
    }
  }
  for (const { fields } of desc.oneofs) checkOneof(fields, values, path);
}

function checkOneof(
  fields: readonly DescField[],
  values: ReadonlyMap<string, unknown>,
  path: string,
): void {
  const isGiven = ({ jsonName, name }: DescField): boolean =>
    (values.get(jsonName) ?? values.get(name) ?? null) !== null;
  const [first, second] = fields.filter(isGiven);
  if (first === undefined || second === undefined) return;
  const field = path === '' ? second.jsonName : `${path}.${second.jsonName}`;
  throw invalidArgument(field, `must not be given beside ${first.jsonName}`);
}

function checkField(field: DescField, json: JsonValue, path: string): void {
  switch (field.fieldKind) {
    case 'scalar':
      checkScalar(field, field.scalar, json, path);
      return;
    case 'enum':
      checkEnum(field.enum, json, path);
      return;
    case 'message':
      checkMessage(field.message, json, path);
      return;
    case 'list':
      if (json === null) return;
      if (!Array.isArray(json)) throw invalidArgument(path, 'must be a list');
      if (json.length > maxListItems) throw invalidArgument(path, `takes at most ${maxListItems}`);
      for (const [index, item] of json.entries()) checkElement(field, item, `${path}[${index}]`);
      return;
    case 'map':
      if (json === null) return;
      if (!isObject(json)) throw invalidArgument(path, 'must be an object');
      for (const [key, item] of Object.entries(json))
        checkElement(field, item, `${path}["${key}"]`);
      return;
    default: {
      const unknown: never = field;
      throw new Error(`no such field: ${String(unknown)}`);
    }
  }
}

function checkElement(
  field: DescField & { fieldKind: 'list' | 'map' },
  json: JsonValue,
  path: string,
): void {
  const { enum: names, message, scalar } = field;
  if (json === null) throw invalidArgument(path, 'must not be null');
  if (scalar !== undefined) checkScalar(field, scalar, json, path);
  if (names !== undefined) checkEnum(names, json, path);
  if (message !== undefined) checkMessage(message, json, path);
}

/** Of a field, or of one of its elements. */
function checkScalar(field: DescField, scalar: ScalarType, json: JsonValue, path: string): void {
  if (json === null || (scalar === ScalarType.STRING && typeof json === 'string')) return;
  const value =
    field.fieldKind === 'list' ? [json] : field.fieldKind === 'map' ? { '0': json } : json;
  if (reads(field.parent, { [field.jsonName]: value })) return;
  throw invalidArgument(path, `must be of the type ${ScalarType[scalar].toLowerCase()}`);
}

function checkEnum(desc: DescEnum, json: JsonValue, path: string): void {
  if (json === null || Number.isInteger(json)) return;
  if (desc.values.some(({ name }) => name === json)) return;
  const names = desc.values.filter(({ number }) => number !== 0).map(({ name }) => name);
  const sent = JSON.stringify(json).slice(0, 100);
  throw invalidArgument(path, `${sent} is none of ${names.join(', ')}`);
}

function checkDuration(json: JsonValue, path: string): void {
  if (json === null || (typeof json === 'string' && reads(DurationSchema, json))) return;
  throw invalidArgument(path, 'must be a duration in seconds, such as "90s" or "1.5s"');
}

function reads(desc: DescMessage, json: JsonValue): boolean {
  try {
    return fromJson(desc, json) !== undefined;
  } catch {
    return false;
  }
}

function checkMoment(json: JsonValue, path: string): void {
  if (json === null) return;
  if (typeof json !== 'string' || !reads(TimestampSchema, json)) {
    throw invalidArgument(path, 'must be a time of RFC 3339, such as "2026-01-31T09:30:00Z"');
  }
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d)/.exec(json);
  if (match === null) return;
  const [year = 0, month = 0, day = 0, hour = 0] = match.slice(1).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24) return;
  throw invalidArgument(path, 'no such date or hour');
}
