// Checks what protobuf-es does not when it reads a request's JSON: it takes an unknown enum name for no value, and 30
// February for 2 March; and it does not say which field holds a time or duration that it refuses. Lists are bounded
// here too, before protobuf-es makes messages of their items.

import { type DescEnum, type DescField, type DescMessage, fromJson } from '@bufbuild/protobuf';
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { isObject } from '../../json.ts';

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
      checkMessage(input, JSON.parse(text), '');
      return text;
    },
  };
}

/** Checks enums, moments and durations only. protobuf-es refuses values of a wrong type when it reads the message. */
function checkMessage(desc: DescMessage, json: unknown, path: string): void {
  if (desc.typeName === TimestampSchema.typeName) checkMoment(json, path);
  if (desc.typeName === DurationSchema.typeName) checkDuration(json, path);
  if (desc.typeName.startsWith('google.protobuf.') || !isObject(json)) return;
  const values = new Map(Object.entries(json));
  for (const field of desc.fields) {
    const fieldPath = path === '' ? field.jsonName : `${path}.${field.jsonName}`;
    for (const name of new Set([field.jsonName, field.name])) {
      if (values.has(name)) checkField(field, values.get(name), fieldPath);
    }
  }
}

function checkField(field: DescField, json: unknown, path: string): void {
  switch (field.fieldKind) {
    case 'scalar':
      return;
    case 'enum':
      checkEnum(field.enum, json, path);
      return;
    case 'message':
      checkMessage(field.message, json, path);
      return;
    case 'list':
      if (!Array.isArray(json)) return;
      if (json.length > maxListItems) throw invalidArgument(path, `takes at most ${maxListItems}`);
      for (const [index, item] of json.entries()) checkElement(field, item, `${path}[${index}]`);
      return;
    case 'map':
      if (!isObject(json)) return;
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
  { enum: names, message }: DescField & { fieldKind: 'list' | 'map' },
  json: unknown,
  path: string,
): void {
  if (names !== undefined) checkEnum(names, json, path);
  if (message !== undefined) checkMessage(message, json, path);
}

function checkEnum(desc: DescEnum, json: unknown, path: string): void {
  if (typeof json !== 'string' || desc.values.some(({ name }) => name === json)) return;
  const names = desc.values.filter(({ number }) => number !== 0).map(({ name }) => name);
  const sent = JSON.stringify(json.slice(0, 100));
  throw invalidArgument(path, `${sent} is none of ${names.join(', ')}`);
}

function checkDuration(json: unknown, path: string): void {
  if (json === null || reads(DurationSchema, json)) return;
  throw invalidArgument(path, 'must be a duration in seconds, such as "90s" or "1.5s"');
}

function reads(desc: DescMessage, json: unknown): boolean {
  try {
    return typeof json === 'string' && fromJson(desc, json) !== undefined;
  } catch {
    return false;
  }
}

function checkMoment(json: unknown, path: string): void {
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

function invalidArgument(field: string, rule: string): ConnectError {
  return new ConnectError(`${field}: ${rule}`, Code.InvalidArgument);
}
