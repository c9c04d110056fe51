// Filters on an event in memory, with the outcomes that property-condition.ts's SQL has on the stored one.

import { propertyKey } from '../../platform/filters/filter-rules.ts';
import { type FilteredValue, valueTest } from '../../platform/filters/value-test.ts';
import type { PropertyFilter } from '../../proto/gen/common/v1/filter_pb.js';
import type { PropertyValue } from '../../proto/gen/common/v1/property_value_pb.js';

/** The properties of an event. */
interface FilteredEvent {
  autoProperties: Readonly<Record<string, PropertyValue>>;
  customProperties: Readonly<Record<string, PropertyValue>>;
}

/**
 * Whether an event meets `filter`. `path`, such as `filters[2]`, names the filter in errors. Throws invalid_argument if
 * the filter breaks a rule.
 */
export function eventPredicate(
  filter: PropertyFilter,
  path: string,
): (event: FilteredEvent) => boolean {
  const key = propertyKey(filter, path);
  const test = valueTest(filter, path);
  return ({ autoProperties, customProperties }) => {
    const properties = key.startsWith('$') ? autoProperties : customProperties;
    return test(Object.hasOwn(properties, key) ? scalarOf(properties[key]) : undefined);
  };
}

function scalarOf(property: PropertyValue | undefined): FilteredValue | undefined {
  const value = property?.value;
  if (value?.case !== 'timestampValue') return value?.value;
  const { seconds, nanos } = value.value;
  return new Date(Number(seconds) * 1_000 + Math.floor(nanos / 1e6));
}
