// SQL conditions on one property of a profile: a trait, stored as JSON text, or a field of the activity. The SQL is
// fixed text and placeholders: a request's values are bound. Each condition is true or false for every profile, never
// NULL.

import type { Comparisons } from '../../platform/filters/filter-rules.ts';
import type { Bound } from '../../platform/filters/numeric-range.ts';
import { maxTraitLevels } from '../../platform/limits.ts';
import type { Bindings } from './bindings.ts';
import { partSearch } from './text-search.ts';

/**
 * Conditions on the trait `name` of the column `traits`. If the profile has no such key, dots in the name lead into an
 * object.
 */
export function traitComparisons(name: string, bindings: Bindings): Comparisons<string> {
  const { sql, isCanonical } = traitJsonSql(name, bindings);
  return jsonComparisons(sql, bindings, isCanonical);
}

/** SQL for the JSON text of that trait, '' if absent; canonical: in the form of JSON.stringify. */
export function traitJsonSql(
  name: string,
  bindings: Bindings,
): { sql: string; isCanonical: boolean } {
  const key = bindings.bind('String', name);
  const whole = `traits[${key}]`;
  const parts = name.split('.');
  // No trait nests deeper than that.
  if (parts.length === 1 || parts.length > 1 + maxTraitLevels) {
    return { sql: whole, isCanonical: true };
  }
  const [first = '', ...rest] = parts.map((part) => bindings.bind('String', part));
  const nested = `JSONExtractRaw(traits[${first}], ${rest.join(', ')})`;
  return { sql: `if(mapContains(traits, ${key}), ${whole}, ${nested})`, isCanonical: false };
}

/** `json` and `canonical` as traitJsonSql gives them. */
function jsonComparisons(
  json: string,
  bindings: Bindings,
  canonical: boolean,
): Comparisons<string> {
  const present = `${json} NOT IN ('', 'null')`;
  const text = `if(startsWith(${json}, '"'), JSONExtractString(${json}), ${json})`;
  const isNumber = `(match(${json}, '^[-0-9]'))`;
  const within = (lower: Bound | undefined, upper: Bound | undefined): string => {
    const conditions = [isNumber];
    const value = `JSONExtractFloat(${json})`;
    if (lower !== undefined) {
      const bound = bindings.bind('Float64', lower.number.double);
      conditions.push(`${value} ${lower.inclusive ? '>=' : '>'} ${bound}`);
    }
    if (upper !== undefined) {
      const bound = bindings.bind('Float64', upper.number.double);
      conditions.push(`${value} ${upper.inclusive ? '<=' : '<'} ${bound}`);
    }
    return `(${conditions.join(' AND ')})`;
  };
  return {
    isOneOf: (texts) =>
      canonical
        ? `(${json} IN ${bindings.bind('Array(String)', texts.flatMap(jsonTexts))})`
        : `(${present} AND ${text} IN ${bindings.bind('Array(String)', texts)})`,
    holds: (part) => `(${present} AND ${partSearch(part, bindings)(text)})`,
    isPresent: () => `(${present})`,
    isWithin: within,
    isAbsentOrOutside: (lower, upper) => {
      const inside = within({ number: lower, inclusive: true }, { number: upper, inclusive: true });
      return `(NOT (${present}) OR (${isNumber} AND NOT ${inside}))`;
    },
  };
}

/** The JSON texts of all values that print as `text`: of a string, and of any other value but null. */
function jsonTexts(text: string): string[] {
  const isOther = text !== '' && text !== 'null' && !text.startsWith('"');
  return isOther ? [JSON.stringify(text), text] : [JSON.stringify(text)];
}

/** Conditions on a text, a column or an expression, that is '' if the field is absent. */
export function textComparisons(column: string, bindings: Bindings): Comparisons<string> {
  return {
    isOneOf: (texts) =>
      `(${column} != '' AND ${column} IN ${bindings.bind('Array(String)', texts)})`,
    holds: (part) => partSearch(part, bindings)(column),
    isPresent: () => `${column} != ''`,
    // A text is never a number.
    isWithin: () => 'false',
    isAbsentOrOutside: () => `${column} = ''`,
  };
}
