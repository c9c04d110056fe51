// Filters on an event in memory, with the outcomes that property-condition.ts's SQL has on the stored one. The rules of
// operators and values are filter.ts's, the same for both.

import type { PropertyFilter } from '../../proto/gen/common/v1/filter_pb.js';
import type { PropertyValue } from '../../proto/gen/common/v1/property_value_pb.js';
import { type Comparisons, compared, propertyKey } from './filter.ts';
import { foldCase } from './fold-case.ts';
import { type Bound, intRange } from './numeric-range.ts';

/** The properties of an event. */
interface FilteredEvent {
  autoProperties: Readonly<Record<string, PropertyValue>>;
  customProperties: Readonly<Record<string, PropertyValue>>;
}

type Test = (value: PropertyValue['value'] | undefined) => boolean;

/**
 * Whether an event meets `filter`. `path`, such as `filters[2]`, names the filter in errors. Throws invalid_argument if
 * the filter breaks a rule.
 */
export function eventPredicate(
  filter: PropertyFilter,
  path: string,
): (event: FilteredEvent) => boolean {
  const key = propertyKey(filter, path);
  const test = compared(filter, path, comparisons, not);
  return ({ autoProperties, customProperties }) => {
    const properties = key.startsWith('$') ? autoProperties : customProperties;
    const value = Object.hasOwn(properties, key) ? properties[key]?.value : undefined;
    return test(value?.case === undefined ? undefined : value);
  };
}

const not =
  (test: Test): Test =>
  (value) =>
    !test(value);

const comparisons: Comparisons<Test> = {
  isOneOf: (texts) => {
    const asked = new Set(texts);
    return (value) => value !== undefined && asked.has(canonicalText(value));
  },
  holds: (part) => {
    const folded = foldCase(part);
    return (value) => value !== undefined && foldCase(canonicalText(value)).includes(folded);
  },
  isPresent: () => (value) => value !== undefined,
  isWithin,
  isAbsentOrOutside: (lower, upper) => {
    const isInside = isWithin(
      { number: lower, inclusive: true },
      { number: upper, inclusive: true },
    );
    return (value) => value === undefined || (isNumber(value) && !isInside(value));
  },
};

function isNumber({ case: variant }: PropertyValue['value']): boolean {
  return variant === 'intValue' || variant === 'doubleValue';
}

function isWithin(lower: Bound | undefined, upper: Bound | undefined): Test {
  const ints = intRange(lower, upper);
  return (value) => {
    if (value?.case === 'intValue') {
      return ints !== undefined && value.value >= ints.min && value.value <= ints.max;
    }
    if (value?.case !== 'doubleValue') return false;
    return isAbove(value.value, lower) && isBelow(value.value, upper);
  };
}

function isAbove(double: number, bound: Bound | undefined): boolean {
  if (bound === undefined) return true;
  return bound.inclusive ? double >= bound.number.double : double > bound.number.double;
}

function isBelow(double: number, bound: Bound | undefined): boolean {
  if (bound === undefined) return true;
  return bound.inclusive ? double <= bound.number.double : double < bound.number.double;
}

/** The value's protobuf JSON without quotes, as it is stored: moments have whole milliseconds, -0 is 0. */
function canonicalText(value: PropertyValue['value']): string {
  switch (value.case) {
    case 'stringValue':
      return value.value;
    case 'intValue':
    case 'boolValue':
    case 'doubleValue':
      return String(value.value);
    case 'timestampValue': {
      const { seconds, nanos } = value.value;
      const timeMs = Number(seconds) * 1_000 + Math.floor(nanos / 1e6);
      return new Date(timeMs).toISOString().replace('.000Z', 'Z');
    }
    case undefined:
      return '';
    default:
      return value satisfies never;
  }
}
