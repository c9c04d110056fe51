// SQL conditions on one property of an event: fixed text that names our columns, and placeholders. A request's texts, a
// property's name included, are bound. Each condition is true or false for every event, as no column is Nullable: NOT
// selects all other events.

import { columnOfProperty, propertyMaps } from '../../platform/clickhouse/event-columns.ts';
import { type Bound, type DecimalNumber, intRange } from '../../platform/filters/numeric-range.ts';
import type { Bindings } from './bindings.ts';
import {
  doubleTextSql,
  readCanonicalText,
  timeTextSql,
  typesThatCanHold,
} from './canonical-text.ts';
import { partSearch } from './text-search.ts';

/** SQL for the places of one property's values. `has`: a missing key reads as the map's default value. */
interface PropertyPlace {
  bindings: Bindings;
  /** The property's own column, if it has one: it holds the property's non-empty strings. */
  column: string | undefined;
  value(map: MapColumn): string;
  has(map: MapColumn): string;
  /** One search of the map, where `has` and `value` are two. */
  valueOrNull(map: MapColumn): string;
}

type MapColumn = (typeof propertyMaps)[number]['column'];

/** The places of the property `key`; the key is bound. */
export function placeOf(key: string, bindings: Bindings): PropertyPlace {
  const bound = bindings.bind('String', key);
  return {
    bindings,
    column: columnOfProperty.get(key)?.column,
    value: (map) => `${map}[${bound}]`,
    has: (map) => `mapContains(${map}, ${bound})`,
    valueOrNull: (map) => `arrayElementOrNull(${map}, ${bound})`,
  };
}

/** Holds for events that do not meet `condition`. It must be one term: NOT binds tighter than AND. */
export function not(condition: string): string {
  return `NOT ${condition}`;
}

function any(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'false' : `(${conditions.join(' OR ')})`;
}

/** The event has the property, of any type. */
export function isPresent(place: PropertyPlace): string {
  const conditions = propertyMaps.map(({ column }) => place.has(column));
  if (place.column !== undefined) conditions.unshift(`${place.column} != ''`);
  return any(conditions);
}

/** The property's canonical text is one of `texts`: each type's values are compared with the values of those texts. */
export function isOneOf(place: PropertyPlace, texts: readonly string[]): string {
  const { bindings } = place;
  const readings = texts.map(readCanonicalText);
  const ints = readings.flatMap(({ int }) => (int === undefined ? [] : [int]));
  const doubles = readings.flatMap(({ double }) => (double === undefined ? [] : [double]));
  const times = readings.flatMap(({ timeMs }) => (timeMs === undefined ? [] : [timeMs]));
  const bools = new Set(readings.flatMap(({ bool }) => (bool === undefined ? [] : [bool])));
  const conditions = stringIsOneOf(place, texts);
  if (ints.length > 0) {
    const list = bindings.bind('Array(Int64)', ints);
    conditions.push(
      `(${place.has('int_properties')} AND ${place.value('int_properties')} IN ${list})`,
    );
  }
  if (doubles.length > 0) {
    // IN tells -0 from 0, = does not.
    const list = bindings.bind('Array(Float64)', doubles);
    const zero = doubles.includes(0) ? ` OR ${place.value('double_properties')} = 0` : '';
    conditions.push(
      `(${place.has('double_properties')} AND (${place.value('double_properties')} IN ${list}${zero}))`,
    );
  }
  if (times.length > 0) {
    const list = bindings.bind('Array(Int64)', times);
    const timeMs = `toUnixTimestamp64Milli(${place.value('time_properties')})`;
    conditions.push(`(${place.has('time_properties')} AND ${timeMs} IN ${list})`);
  }
  for (const bool of bools) conditions.push(boolIs(place, bool));
  return any(conditions);
}

/** A property's own column has all of its non-empty strings, so that the map need not be read for them. */
function stringIsOneOf(place: PropertyPlace, texts: readonly string[]): string[] {
  const conditions: string[] = [];
  const nonEmpty = texts.filter((text) => text !== '');
  if (nonEmpty.length > 0) {
    const list = place.bindings.bind('Array(String)', nonEmpty);
    conditions.push(`${place.column ?? place.value('string_properties')} IN ${list}`);
  }
  if (nonEmpty.length < texts.length) {
    conditions.push(
      `(${place.has('string_properties')} AND ${place.value('string_properties')} = '')`,
    );
  }
  return conditions;
}

function boolIs(place: PropertyPlace, bool: boolean): string {
  return `(${place.has('bool_properties')} AND ${place.value('bool_properties')} = ${bool ? 'true' : 'false'})`;
}

/** The property's canonical text contains `text`, upper and lower case alike. */
export function holds(place: PropertyPlace, text: string): string {
  const holdsIt = partSearch(text, place.bindings);
  const types = typesThatCanHold(text);
  const conditions = [holdsIt(place.column ?? place.value('string_properties'))];
  if (types.int) {
    const int = `toString(${place.value('int_properties')})`;
    conditions.push(`(${place.has('int_properties')} AND ${holdsIt(int)})`);
  }
  if (types.double) {
    const double = doubleTextSql(place.value('double_properties'));
    conditions.push(`(${place.has('double_properties')} AND ${holdsIt(double)})`);
  }
  if (types.time) {
    const time = timeTextSql(place.value('time_properties'));
    conditions.push(`(${place.has('time_properties')} AND ${holdsIt(time)})`);
  }
  for (const bool of types.bools) conditions.push(boolIs(place, bool));
  return any(conditions);
}

/** The property is a number within the bounds. Strings, booleans and times are no numbers. */
export function isWithin(
  place: PropertyPlace,
  lower: Bound | undefined,
  upper: Bound | undefined,
): string {
  const { bindings } = place;
  const conditions: string[] = [];
  const ints = intRange(lower, upper);
  if (ints !== undefined) {
    const min = bindings.bind('Int64', ints.min);
    const max = bindings.bind('Int64', ints.max);
    conditions.push(
      `(${place.has('int_properties')} AND ${place.value('int_properties')} BETWEEN ${min} AND ${max})`,
    );
  }
  const double = [place.has('double_properties')];
  if (lower !== undefined) {
    const bound = bindings.bind('Float64', lower.number.double);
    double.push(`${place.value('double_properties')} ${lower.inclusive ? '>=' : '>'} ${bound}`);
  }
  if (upper !== undefined) {
    const bound = bindings.bind('Float64', upper.number.double);
    double.push(`${place.value('double_properties')} ${upper.inclusive ? '<=' : '<'} ${bound}`);
  }
  conditions.push(`(${double.join(' AND ')})`);
  return any(conditions);
}

/** The event lacks the property, or the property is a number below `lower` or above `upper`. */
export function isAbsentOrOutside(
  place: PropertyPlace,
  lower: DecimalNumber,
  upper: DecimalNumber,
): string {
  return any([
    not(isPresent(place)),
    `((${place.has('int_properties')} OR ${place.has('double_properties')}) AND ${not(
      isWithin(place, { number: lower, inclusive: true }, { number: upper, inclusive: true }),
    )})`,
  ]);
}
