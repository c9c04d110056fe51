// Conditions on one property of a profile, as SQL: a trait, whose value is JSON text, or a field of the activity. Fixed
// text and placeholders only; what a request holds is bound. Each condition is true or false for every profile.

import type { Bindings } from './bindings.ts';
import type { Comparisons } from './filter.ts';
import type { Bound } from './numeric-range.ts';

/**
 * A trait of this name, from the column `traits`: the key itself where there is one, else the way that its dots lead
 * into an object.
 */
export function traitComparisons(name: string, bindings: Bindings): Comparisons {
  const key = bindings.bind('String', name);
  const whole = `traits[${key}]`;
  if (!name.includes('.')) return jsonComparisons(whole, bindings, isCanonical);
  const [first = '', ...rest] = name.split('.').map((part) => bindings.bind('String', part));
  const nested = `JSONExtractRaw(traits[${first}], ${rest.join(', ')})`;
  const json = `if(mapContains(traits, ${key}), ${whole}, ${nested})`;
  return jsonComparisons(json, bindings, !isCanonical);
}

const isCanonical = true;

/** `json` is '' where the trait is absent; its text is what JSON.stringify writes where it is canonical. */
function jsonComparisons(json: string, bindings: Bindings, canonical: boolean): Comparisons {
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
    holds: (part) =>
      `(${present} AND positionCaseInsensitiveUTF8(${text}, ${bindings.bind('String', part)}) > 0)`,
    isPresent: () => `(${present})`,
    isWithin: within,
    isAbsentOrOutside: (lower, upper) => {
      const inside = within({ number: lower, inclusive: true }, { number: upper, inclusive: true });
      return `(NOT (${present}) OR (${isNumber} AND NOT ${inside}))`;
    },
  };
}

/** The JSON texts of all values whose own text this is: a string's, and that of anything else but null. */
function jsonTexts(text: string): string[] {
  const isOther = text !== '' && text !== 'null' && !text.startsWith('"');
  return isOther ? [JSON.stringify(text), text] : [JSON.stringify(text)];
}

/** A column of text that is '' where the field is absent. */
export function textComparisons(column: string, bindings: Bindings): Comparisons {
  return {
    isOneOf: (texts) =>
      `(${column} != '' AND ${column} IN ${bindings.bind('Array(String)', texts)})`,
    holds: (part) => `positionCaseInsensitiveUTF8(${column}, ${bindings.bind('String', part)}) > 0`,
    isPresent: () => `${column} != ''`,
    // Text is never a number.
    isWithin: () => 'false',
    isAbsentOrOutside: () => `${column} = ''`,
  };
}
