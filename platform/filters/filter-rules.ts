// The rules of a property filter: the values that each operator takes, and its meaning in Comparisons. value-test.ts
// judges filters in memory; SQL is query's.

import {
  FilterOperator,
  type PropertyFilter,
  PropertySource,
} from '../../proto/gen/common/v1/filter_pb.js';
import { invalidArgument, notKnown } from '../http/answers/invalid-argument.ts';
import { hasMoreCodePoints, maxPropertyKeyCodePoints } from '../limits.ts';
import { type Bound, type DecimalNumber, parseDecimal } from './numeric-range.ts';

/** The conditions on one property that all operators are made of: SQL, or tests in memory. */
export interface Comparisons<Condition> {
  /** The property's canonical text is one of `texts`. */
  isOneOf(texts: readonly string[]): Condition;
  /** The property's canonical text contains `text`, upper and lower case alike. */
  holds(text: string): Condition;
  isPresent(): Condition;
  /** The property is a number within the bounds. */
  isWithin(lower: Bound | undefined, upper: Bound | undefined): Condition;
  /** The property is absent, or a number below `lower` or above `upper`. */
  isAbsentOrOutside(lower: DecimalNumber, upper: DecimalNumber): Condition;
}

/**
 * The condition of `filter`'s operator and values on `property`; `not` negates one. Throws
 * invalid_argument, naming the field, if the filter breaks a rule.
 */
export function compared<Condition>(
  filter: PropertyFilter,
  path: string,
  property: Comparisons<Condition>,
  not: (condition: Condition) => Condition,
): Condition {
  const { operator } = filter;
  switch (operator) {
    case FilterOperator.EQUALS:
      return property.isOneOf([single(filter, path)]);
    case FilterOperator.NOT_EQUALS:
      return not(property.isOneOf([single(filter, path)]));
    case FilterOperator.IN:
      return property.isOneOf(several(filter, path));
    case FilterOperator.NOT_IN:
      return not(property.isOneOf(several(filter, path)));
    case FilterOperator.CONTAINS:
      return property.holds(part(filter, path));
    case FilterOperator.NOT_CONTAINS:
      return not(property.holds(part(filter, path)));
    case FilterOperator.IS_SET:
      return isSet(property, filter, path);
    case FilterOperator.IS_NOT_SET:
      return not(isSet(property, filter, path));
    case FilterOperator.LT:
      return property.isWithin(undefined, { number: number(filter, path), inclusive: false });
    case FilterOperator.LTE:
      return property.isWithin(undefined, { number: number(filter, path), inclusive: true });
    case FilterOperator.GT:
      return property.isWithin({ number: number(filter, path), inclusive: false }, undefined);
    case FilterOperator.GTE:
      return property.isWithin({ number: number(filter, path), inclusive: true }, undefined);
    case FilterOperator.BETWEEN: {
      const [lower, upper] = pair(filter, path);
      return property.isWithin(
        { number: lower, inclusive: true },
        { number: upper, inclusive: true },
      );
    }
    case FilterOperator.NOT_BETWEEN: {
      const [lower, upper] = pair(filter, path);
      return property.isAbsentOrOutside(lower, upper);
    }
    case FilterOperator.UNSPECIFIED:
      throw invalidArgument(`${path}.operator`, 'is required');
    default:
      throw notKnown(`${path}.operator`, operator, 'is not an operator');
  }
}

/** Whether a filter with the operator holds where the property is absent. */
export function heldByAbsence(operator: FilterOperator): boolean {
  switch (operator) {
    case FilterOperator.NOT_EQUALS:
    case FilterOperator.NOT_CONTAINS:
    case FilterOperator.IS_NOT_SET:
    case FilterOperator.NOT_IN:
    case FilterOperator.NOT_BETWEEN:
      return true;
    case FilterOperator.UNSPECIFIED:
    case FilterOperator.EQUALS:
    case FilterOperator.CONTAINS:
    case FilterOperator.IS_SET:
    case FilterOperator.LT:
    case FilterOperator.LTE:
    case FilterOperator.GT:
    case FilterOperator.GTE:
    case FilterOperator.IN:
    case FilterOperator.BETWEEN:
      return false;
    default:
      // A number that is no operator was refused before.
      operator satisfies never;
      return false;
  }
}

/** Throws invalid_argument if the property's name is empty or longer than any stored name. */
export function checkPropertyName({ property }: PropertyFilter, path: string): void {
  checkPropertyText(property, `${path}.property`);
}

export function checkPropertyText(property: string, field: string): void {
  if (property === '') throw invalidArgument(field, 'is required');
  if (hasMoreCodePoints(property, maxPropertyKeyCodePoints)) {
    throw invalidArgument(field, `takes at most ${maxPropertyKeyCodePoints} code points`);
  }
}

/** The key of an event's property. Throws invalid_argument for a name or source that no event has. */
export function propertyKey(filter: PropertyFilter, path: string): string {
  checkPropertyName(filter, path);
  const { property, source } = filter;
  const field = `${path}.property`;
  switch (source) {
    case PropertySource.UNSPECIFIED:
      return property;
    case PropertySource.AUTO:
      if (property.startsWith('$')) return property;
      throw invalidArgument(field, 'an auto property starts with $');
    case PropertySource.CUSTOM:
      if (!property.startsWith('$')) return property;
      throw invalidArgument(field, 'a custom property does not start with $');
    case PropertySource.PROFILE:
      throw invalidArgument(`${path}.source`, 'events have AUTO and CUSTOM properties only');
    default:
      throw notKnown(`${path}.source`, source, 'is not a source');
  }
}

function single({ operator, value, values }: PropertyFilter, path: string): string {
  if (values.length === 0) return value;
  throw invalidArgument(`${path}.values`, `${FilterOperator[operator]} takes value, not values`);
}

function several({ operator, value, values }: PropertyFilter, path: string): string[] {
  const name = FilterOperator[operator];
  if (value !== '') throw invalidArgument(`${path}.value`, `${name} takes values, not value`);
  if (values.length === 0) throw invalidArgument(`${path}.values`, `${name} takes at least one`);
  return values;
}

function part(filter: PropertyFilter, path: string): string {
  const value = single(filter, path);
  if (value !== '') return value;
  throw invalidArgument(`${path}.value`, `${FilterOperator[filter.operator]} takes a text`);
}

function number(filter: PropertyFilter, path: string): DecimalNumber {
  const parsed = parseDecimal(single(filter, path));
  if (parsed !== undefined) return parsed;
  throw invalidArgument(`${path}.value`, `${FilterOperator[filter.operator]} takes a number`);
}

function pair(filter: PropertyFilter, path: string): [DecimalNumber, DecimalNumber] {
  const { operator, value, values } = filter;
  const name = FilterOperator[operator];
  if (value !== '') throw invalidArgument(`${path}.value`, `${name} takes values, not value`);
  const [first, second] = values;
  if (first === undefined || second === undefined || values.length !== 2) {
    throw invalidArgument(`${path}.values`, `${name} takes exactly two`);
  }
  const lower = parseDecimal(first);
  const upper = parseDecimal(second);
  if (lower === undefined || upper === undefined) {
    throw invalidArgument(`${path}.values`, `${name} takes numbers`);
  }
  return [lower, upper];
}

function isSet<Condition>(
  property: Comparisons<Condition>,
  { operator, value, values }: PropertyFilter,
  path: string,
): Condition {
  const name = FilterOperator[operator];
  if (value !== '') throw invalidArgument(`${path}.value`, `${name} takes none`);
  if (values.length > 0) throw invalidArgument(`${path}.values`, `${name} takes none`);
  return property.isPresent();
}
