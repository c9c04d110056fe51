// Holds a value of a request against its schema. The first breach is told: where it is and which rule it breaks. Sizes
// are looked at before the work that they bound.

import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { isObject } from '../../../platform/json.ts';
import { hasMoreCodePoints } from '../../../platform/limits.ts';
import { momentMs } from './moment.ts';
import type {
  IntegerSchema,
  ListSchema,
  ObjectSchema,
  Schema,
  TextSchema,
  ValueOf,
} from './schema.ts';

/** Throws invalid_argument that names the field. `field` is the value's own name; empty for a whole body. */
export function requireValue<S extends Schema>(
  schema: S,
  value: unknown,
  field: string,
): asserts value is ValueOf<S> {
  checkValue(schema, value, field);
}

function checkValue(schema: Schema, value: unknown, field: string): void {
  switch (schema.type) {
    case 'string':
      checkText(schema, value, field);
      return;
    case 'integer':
      checkInteger(schema, value, field);
      return;
    case 'boolean':
      if (typeof value !== 'boolean') throw invalidArgument(field, 'must be true or false');
      return;
    case 'array':
      checkList(schema, value, field);
      return;
    case 'object':
      if ('properties' in schema) checkObject(schema, value, field);
      else if (!isObject(value)) throw invalidArgument(field, 'must be an object');
      return;
    default:
      schema satisfies never;
  }
}

function checkText(schema: TextSchema, value: unknown, field: string): void {
  if (typeof value !== 'string') throw invalidArgument(field, 'must be a string');
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema;
  if (schema.enum !== undefined) {
    if (schema.enum.includes(value)) return;
    throw invalidArgument(field, `must be one of ${schema.enum.join(', ')}`);
  }
  if (value.length < minLength) throw invalidArgument(field, 'must not be empty');
  if (hasMoreCodePoints(value, maxLength)) {
    throw invalidArgument(field, `must have at most ${maxLength} characters`);
  }
  if (loneSurrogate.test(value)) throw invalidArgument(field, 'must be valid Unicode');
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) {
    throw invalidArgument(field, `must match ${pattern}`);
  }
  if (format === 'date-time' && momentMs(value) === undefined) {
    throw invalidArgument(field, 'must be a time of RFC 3339, such as 2026-01-31T12:00:00Z');
  }
}

function checkInteger({ minimum, maximum }: IntegerSchema, value: unknown, field: string): void {
  const isWithin = Number.isSafeInteger(value) && Number(value) >= minimum;
  if (isWithin && Number(value) <= maximum) return;
  throw invalidArgument(field, `must be a whole number from ${minimum} to ${maximum}`);
}

function checkList(schema: ListSchema, value: unknown, field: string): void {
  if (!Array.isArray(value)) throw invalidArgument(field, 'must be an array');
  const { minItems = 0, maxItems, items } = schema;
  if (value.length < minItems) throw invalidArgument(field, `must have at least ${minItems}`);
  if (value.length > maxItems) throw invalidArgument(field, `must have at most ${maxItems}`);
  for (const [index, item] of value.entries()) checkValue(items, item, `${field}[${index}]`);
}

function checkObject(schema: ObjectSchema, value: unknown, field: string): void {
  if (!isObject(value)) {
    throw field === ''
      ? invalidArgument('body', 'must be a JSON object')
      : invalidArgument(field, 'must be an object');
  }
  const { properties, required, additionalProperties, minProperties = 0 } = schema;
  const path = (name: string): string => (field === '' ? name : `${field}.${name}`);
  for (const name of required) {
    if (!Object.hasOwn(value, name)) throw invalidArgument(path(name), 'is required');
  }
  const known = Object.keys(properties).filter((name) => Object.hasOwn(value, name));
  if (additionalProperties === false) {
    const unknown = Object.keys(value).find((name) => !Object.hasOwn(properties, name));
    if (unknown !== undefined) {
      const names = Object.keys(properties).join(', ');
      throw invalidArgument(path(shown(unknown)), `is unknown: known are ${names || 'none'}`);
    }
  }
  if (known.length < minProperties) {
    throw invalidArgument(field, `must have one of ${Object.keys(properties).join(', ')}`);
  }
  for (const name of known) {
    const member = properties[name];
    if (member !== undefined) checkValue(member, value[name], path(name));
  }
}

const maxShownCharacters = 100;
const loneSurrogate = /\p{Cs}/u;
const loneSurrogates = /\p{Cs}/gu;

/** A name that the caller chose, short enough to repeat. */
function shown(name: string): string {
  return name.slice(0, maxShownCharacters).replace(loneSurrogates, '');
}
