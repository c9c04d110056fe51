// Property filters as SQL. Their rules are platform/filters/filter-rules.ts's; the SQL of each comparison is
// property-condition.ts's for events and profile-condition.ts's for profiles.

import { type Comparisons, compared, propertyKey } from '../../platform/filters/filter-rules.ts';
import type { PropertyFilter } from '../../proto/gen/common/v1/filter_pb.js';
import type { Bindings } from './bindings.ts';
import {
  holds,
  isAbsentOrOutside,
  isOneOf,
  isPresent,
  isWithin,
  not,
  placeOf,
} from './property-condition.ts';

/**
 * SQL that holds for events that meet `filter`. `path`, such as `filters[2]`, names the filter in errors. Throws
 * invalid_argument if the filter breaks a rule.
 */
export function filterCondition(filter: PropertyFilter, path: string, bindings: Bindings): string {
  const place = placeOf(propertyKey(filter, path), bindings);
  return comparison(filter, path, {
    isOneOf: (texts) => isOneOf(place, texts),
    holds: (text) => holds(place, text),
    isPresent: () => isPresent(place),
    isWithin: (lower, upper) => isWithin(place, lower, upper),
    isAbsentOrOutside: (lower, upper) => isAbsentOrOutside(place, lower, upper),
  });
}

/** SQL for `filter`'s operator and values on `property`. Throws like filterCondition. */
export function comparison(
  filter: PropertyFilter,
  path: string,
  property: Comparisons<string>,
): string {
  return compared(filter, path, property, not);
}
