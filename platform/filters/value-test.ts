// Judges property values in memory, with the outcomes that query's SQL has on stored ones: live views and webhooks
// filter events by it. The rules of operators and values are filter-rules.ts's, the same for both.

import type { PropertyFilter } from '../../proto/gen/common/v1/filter_pb.js';
import { type Comparisons, compared } from './filter-rules.ts';
import { foldCase } from './fold-case.ts';
import { type Bound, intRange } from './numeric-range.ts';

/** A property's value by its type: a bigint is an integer, a number a double, a date has whole milliseconds. */
export type FilteredValue = string | bigint | number | boolean | Date;

/** Whether the value of a filter's property meets the filter; undefined where the event has no such property. */
export type ValueTest = (value: FilteredValue | undefined) => boolean;

/** `path`, such as `filters[2]`, names the filter in errors. Throws invalid_argument if the filter breaks a rule. */
export function valueTest(filter: PropertyFilter, path: string): ValueTest {
  return compared(filter, path, comparisons, not);
}

const not =
  (test: ValueTest): ValueTest =>
  (value) =>
    !test(value);

const comparisons: Comparisons<ValueTest> = {
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

function isNumber(value: FilteredValue): boolean {
  return typeof value === 'bigint' || typeof value === 'number';
}

function isWithin(lower: Bound | undefined, upper: Bound | undefined): ValueTest {
  const ints = intRange(lower, upper);
  return (value) => {
    if (typeof value === 'bigint') {
      return ints !== undefined && value >= ints.min && value <= ints.max;
    }
    return typeof value === 'number' && isAbove(value, lower) && isBelow(value, upper);
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

/** The value's protobuf JSON without quotes, as it is stored: -0 is 0. */
function canonicalText(value: FilteredValue): string {
  return value instanceof Date ? value.toISOString().replace('.000Z', 'Z') : String(value);
}
