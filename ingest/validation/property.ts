// Checks and reads one PropertyValue of the typed shape: an object with exactly one variant set. A valid value costs no
// allocation.

import { isObject } from '../../platform/json.ts';
import { hasMoreCodePoints, maxStringValueCodePoints } from '../../platform/limits.ts';
import type { Rule } from '../../proto/wire/rules.ts';
import { parseTimestamp } from './text/checked-timestamp.ts';

type Variant = 'stringValue' | 'intValue' | 'doubleValue' | 'boolValue' | 'timestampValue';

export interface Property {
  variant: Variant;
  value: unknown;
}

/** The broken rule, and the variant that breaks it; '' where the value as a whole does. */
interface PropertyFault {
  variant: Variant | '';
  rule: Rule;
}

const notOneVariant: PropertyFault = { variant: '', rule: 'property_value' };

/** Undefined when `value` is a valid PropertyValue in protobuf JSON. */
export function checkProperty(value: unknown): PropertyFault | undefined {
  if (!isObject(value)) return notOneVariant;
  let variants = 0;
  for (const name in value) {
    const member = value[name];
    const variant = variantNamed(name);
    if (variant === undefined || member === null) continue;
    const rule = checkVariant(variant, member);
    if (rule !== undefined) return { variant, rule };
    variants++;
  }
  return variants === 1 ? undefined : notOneVariant;
}

/** The variant that a valid PropertyValue has set, and its value. */
export function readProperty(value: unknown): Property | undefined {
  if (!isObject(value)) return undefined;
  for (const name in value) {
    const variant = variantNamed(name);
    if (variant !== undefined && value[name] !== null) return { variant, value: value[name] };
  }
  return undefined;
}

export function variantNamed(name: string): Variant | undefined {
  switch (name) {
    case 'stringValue':
    case 'string_value':
      return 'stringValue';
    case 'intValue':
    case 'int_value':
      return 'intValue';
    case 'doubleValue':
    case 'double_value':
      return 'doubleValue';
    case 'boolValue':
    case 'bool_value':
      return 'boolValue';
    case 'timestampValue':
    case 'timestamp_value':
      return 'timestampValue';
    default:
      return undefined;
  }
}

function checkVariant(variant: Variant, value: unknown): Rule | undefined {
  switch (variant) {
    case 'stringValue':
      if (typeof value !== 'string') return 'must_be_string';
      return hasMoreCodePoints(value, maxStringValueCodePoints) ? 'string_length' : undefined;
    case 'intValue':
      return checkInt(value);
    case 'doubleValue':
      return checkDouble(value);
    case 'boolValue':
      return typeof value === 'boolean' ? undefined : 'must_be_boolean';
    case 'timestampValue':
      if (typeof value !== 'string') return 'timestamp';
      return Number.isNaN(parseTimestamp(value)) ? 'timestamp' : undefined;
    default:
      return variant satisfies never;
  }
}

function checkInt(value: unknown): Rule | undefined {
  if (typeof value === 'string') return isInt64(value) ? undefined : 'int64';
  if (typeof value !== 'number') return 'int64';
  // JSON.parse has rounded 9007199254740991.4: only the text tells whether this number is the one that was sent.
  return Number.isSafeInteger(value) ? undefined : 'int64_number';
}

function checkDouble(value: unknown): Rule | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'finite_double';
  return typeof value === 'string' && isFiniteNumber(value) ? undefined : 'finite_double';
}

const zero = 48;

/** Whether `text` is a decimal integer from -2^63 to 2^63 - 1, without a plus sign, spaces or needless zeros. */
export function isInt64(text: string): boolean {
  const isNegative = text.charCodeAt(0) === 45;
  const first = isNegative ? 1 : 0;
  const digits = text.length - first;
  if (digits < 1 || digits > 19) return false;
  if (digits > 1 && text.charCodeAt(first) === zero) return false;
  for (let at = first; at < text.length; at++) {
    const digit = text.charCodeAt(at) - zero;
    if (!(digit >= 0 && digit <= 9)) return false;
  }
  // Decimal texts of equal length sort like their numbers.
  const largest = isNegative ? '9223372036854775808' : '9223372036854775807';
  return digits < 19 || (isNegative ? text.slice(1) : text) <= largest;
}

const jsonNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** Whether `text` is written as a JSON number that a double can hold; "NaN", "Infinity" and "1e999" are not. */
export function isFiniteNumber(text: string): boolean {
  return jsonNumber.test(text) && Number.isFinite(Number(text));
}
