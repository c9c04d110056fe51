// Checks the properties of well-known kinds, which proto/wire/well-known-kinds.ts lists with their properties. Other
// kinds take any property, and a well-known kind takes any property beside the listed ones.

import type { JsonObject } from '../../platform/json.ts';
import type { Rule } from '../../proto/wire/rules.ts';
import { type WellKnownCheck, wellKnownKinds } from '../../proto/wire/well-known-kinds.ts';
import { type Property, readProperty } from './property.ts';

type Check = (property: Property) => Rule | undefined;

interface WellKnownFault {
  key: string;
  rule: Rule;
}

/** Undefined where `properties` fit `kind`; a kind that is not well-known takes all properties. */
export function checkWellKnown(
  kind: string,
  properties: JsonObject | undefined,
): WellKnownFault | undefined {
  const expected = wellKnownKinds.get(kind);
  if (expected === undefined) return undefined;
  for (const property of expected) {
    const { snakeName, camelName, isRequired, check } = property;
    const snake = properties === undefined ? undefined : ownMember(properties, snakeName);
    const camel = properties === undefined ? undefined : ownMember(properties, camelName);
    if (snake !== undefined && camel !== undefined && snakeName !== camelName) {
      return { key: camelName, rule: 'member_spelling' };
    }
    const value = readProperty(snake ?? camel);
    if (value === undefined) {
      if (isRequired) return { key: snakeName, rule: 'well_known_required' };
      continue;
    }
    const rule = checks[check](value);
    if (rule !== undefined) return { key: snake === undefined ? camelName : snakeName, rule };
  }
  return undefined;
}

function ownMember(properties: JsonObject, name: string): unknown {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

const id: Check = ({ variant, value }) =>
  variant === 'intValue' || (variant === 'stringValue' && value !== '')
    ? undefined
    : 'well_known_id';

const text: Check = ({ variant }) => (variant === 'stringValue' ? undefined : 'well_known_text');

const nonEmptyText: Check = ({ variant, value }) =>
  variant === 'stringValue' && value !== '' ? undefined : 'well_known_non_empty';

const amount: Check = (property) => (numberOf(property) > 0 ? undefined : 'well_known_amount');

const currency: Check = ({ variant, value }) =>
  variant === 'stringValue' && typeof value === 'string' && /^[A-Z]{3}$/.test(value)
    ? undefined
    : 'well_known_currency';

const clickCount: Check = (property) =>
  isIntegerWithin(property, 2, Number.POSITIVE_INFINITY) ? undefined : 'well_known_click_count';

const percent: Check = (property) =>
  isIntegerWithin(property, 0, 100) ? undefined : 'well_known_percent';

const score: Check = (property) =>
  isIntegerWithin(property, 0, 10) ? undefined : 'well_known_score';

/** An int or a double, rounded to a number, which comparing with a small bound allows; NaN for other types. */
function numberOf({ variant, value }: Property): number {
  return variant === 'intValue' || variant === 'doubleValue' ? Number(value) : Number.NaN;
}

function isIntegerWithin(property: Property, min: number, max: number): boolean {
  const number = numberOf(property);
  return Number.isInteger(number) && number >= min && number <= max;
}

const checks: Readonly<Record<WellKnownCheck, Check>> = {
  id,
  text,
  non_empty_text: nonEmptyText,
  amount,
  currency,
  click_count: clickCount,
  percent,
  score,
};
