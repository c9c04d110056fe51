// One condition of a filter as pages keep it: in the address, as short JSON, and on the wire.

import { create } from '@bufbuild/protobuf';
import { readablePath } from '../../platform/words/readable-path.ts';
import { countryName } from '../../platform/words/value-words.ts';
import {
  FilterOperator,
  type PropertyFilter,
  PropertyFilterSchema,
  PropertySource,
} from '../../proto/gen/common/v1/filter_pb.js';

/** Events of bots have it. */
export const botProperty = '$bot';

export type Condition = {
  property: string;
  operator: FilterOperator;
  values: string[];
  source: PropertySource;
};

export const emptyCondition: Condition = {
  property: '',
  operator: FilterOperator.EQUALS,
  values: [],
  source: PropertySource.UNSPECIFIED,
};

const traitPrefix = 'profile.';

/** How many values an operator takes. */
export type Values = 'none' | 'one' | 'two' | 'many';

export const operators: readonly { operator: FilterOperator; name: string; values: Values }[] = [
  { operator: FilterOperator.EQUALS, name: 'is', values: 'one' },
  { operator: FilterOperator.NOT_EQUALS, name: 'is not', values: 'one' },
  { operator: FilterOperator.CONTAINS, name: 'contains', values: 'one' },
  { operator: FilterOperator.NOT_CONTAINS, name: 'does not contain', values: 'one' },
  { operator: FilterOperator.IN, name: 'is one of', values: 'many' },
  { operator: FilterOperator.NOT_IN, name: 'is none of', values: 'many' },
  { operator: FilterOperator.IS_SET, name: 'is set', values: 'none' },
  { operator: FilterOperator.IS_NOT_SET, name: 'is not set', values: 'none' },
  { operator: FilterOperator.GT, name: 'is above', values: 'one' },
  { operator: FilterOperator.GTE, name: 'is at least', values: 'one' },
  { operator: FilterOperator.LT, name: 'is below', values: 'one' },
  { operator: FilterOperator.LTE, name: 'is at most', values: 'one' },
  { operator: FilterOperator.BETWEEN, name: 'is between', values: 'two' },
  { operator: FilterOperator.NOT_BETWEEN, name: 'is not between', values: 'two' },
];

export function operatorOf(operator: FilterOperator) {
  return operators.find((one) => one.operator === operator) ?? operators[0];
}

/** Whether every value that the operator takes is there. */
export function isComplete({ property, operator, values }: Condition): boolean {
  if (property === '') return false;
  const filled = values.filter((value) => value !== '').length;
  switch (operatorOf(operator)?.values) {
    case 'none':
      return true;
    case 'two':
      return filled === 2;
    default:
      return filled > 0;
  }
}

export function toPropertyFilter({
  property,
  operator,
  values,
  source,
}: Condition): PropertyFilter {
  const takes = operatorOf(operator)?.values;
  const isList = takes === 'many' || takes === 'two';
  // Schema and breakdowns mark a trait by its name, filters by their source.
  const isTrait = source === PropertySource.UNSPECIFIED && property.startsWith(traitPrefix);
  return create(PropertyFilterSchema, {
    property: isTrait ? property.slice(traitPrefix.length) : property,
    operator,
    source: isTrait ? PropertySource.PROFILE : source,
    ...(takes === 'one' ? { value: values[0] ?? '' } : {}),
    ...(isList ? { values } : {}),
  });
}

/** Of an event's filter: a trait gets its prefix back. */
export function fromPropertyFilter({
  property,
  operator,
  value,
  values,
  source,
}: PropertyFilter): Condition {
  const isTrait = source === PropertySource.PROFILE;
  return {
    property: isTrait ? traitPrefix + property : property,
    operator,
    source: isTrait ? PropertySource.UNSPECIFIED : source,
    values: values.length > 0 ? values : value ? [value] : [],
  };
}

/** For the address. */
export function writeConditions(conditions: readonly Condition[]): string | undefined {
  if (conditions.length === 0) return undefined;
  return JSON.stringify(
    conditions.map(({ property, operator, values, source }) => [
      property,
      operator,
      source,
      ...values,
    ]),
  );
}

/** Of the address. What is not understood is left out: an address may come from anywhere. */
export function readConditions(text: string): Condition[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return [];
  }
  return Array.isArray(list) ? list.flatMap(readCondition) : [];
}

function readCondition(entry: unknown): Condition[] {
  if (!Array.isArray(entry)) return [];
  const [property, operator, source, ...values]: unknown[] = entry;
  if (typeof property !== 'string' || typeof operator !== 'number') return [];
  const known = operators.find((one) => one.operator === operator);
  if (!known || !values.every((value) => typeof value === 'string')) return [];
  const from = typeof source === 'number' && source in PropertySource ? source : 0;
  return [{ property, operator, source: from, values }];
}

/** What pages say of the condition that is there by itself. */
export const botsLeftOut = 'Bots left out';

/** Of these operators, a value is a whole country; of others, part of its code. */
const ofCountries: ReadonlySet<FilterOperator> = new Set([
  FilterOperator.EQUALS,
  FilterOperator.NOT_EQUALS,
  FilterOperator.IN,
  FilterOperator.NOT_IN,
]);

/** A condition in words: "Country is Germany". `isAny`: events that meet another condition alone count, too. */
export function inWords({ property, operator, values }: Condition, isAny = false): string {
  const known = operatorOf(operator);
  const isNotBots = property === botProperty && operator === FilterOperator.NOT_EQUALS;
  if (isNotBots && values[0] === 'true' && !isAny) return botsLeftOut;
  const isCountry = property === '$country' && ofCountries.has(operator);
  const nameOf = isCountry ? countryName : readablePath;
  const joined = values.map(nameOf).join(known?.values === 'two' ? ' and ' : ', ');
  return `${propertyName(property)} ${known?.name ?? ''} ${joined}`.trim();
}

/** A property as people say it: `$utmSource` is "UTM source", a trait is marked; others stay as they are. */
export function propertyName(property: string): string {
  if (property.startsWith(traitPrefix)) return `${property.slice(traitPrefix.length)} (user)`;
  if (!property.startsWith('$')) return property;
  const words = property
    .slice(1)
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(/\b(?:url|utm|os|ip|sdk)\b/g, (initials) => initials.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}
