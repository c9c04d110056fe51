// Filters on an event, each read from the definition of its operator.

import type { EventFilter, Filter } from '../../questions/event-filter.ts';
import { decimal, double, text } from './literals.ts';

/** Where a property's text and numbers are: NULL for an event without it. */
interface Place {
  text: string;
  /** True, false or NULL for a number compared with `bound`. */
  compares(sign: string, bound: string): string;
  isNumber: string;
}

export function place(property: string, isTrait: boolean): Place {
  const key = text(property);
  if (isTrait) {
    const number = `trait_numbers[${key}]`;
    return {
      text: `trait_texts[${key}]`,
      compares: (sign, bound) => `(${number} ${sign} ${double(bound)})`,
      isNumber: `${number} IS NOT NULL`,
    };
  }
  const [int, real] = [`ints[${key}]`, `doubles[${key}]`];
  return {
    text: `texts[${key}]`,
    compares: (sign, bound) =>
      `coalesce(${int} ${sign} ${decimal(bound)}, ${real} ${sign} ${double(bound)})`,
    isNumber: `(${int} IS NOT NULL OR ${real} IS NOT NULL)`,
  };
}

export function condition({ property, operator, value = '', values = [], source }: Filter): string {
  const { text: of, compares, isNumber } = place(property, source === 'PROFILE');
  const isOneOf = (texts: readonly string[]) =>
    `coalesce(${of} IN (${texts.map(text).join(', ')}), false)`;
  const contains = `coalesce(contains(lower(${of}), lower(${text(value)})), false)`;
  const within = (): string => {
    const [lower = '', upper = ''] = values;
    return `coalesce(${compares('>=', lower)} AND ${compares('<=', upper)}, false)`;
  };
  switch (operator) {
    case 'EQUALS':
      return isOneOf([value]);
    case 'NOT_EQUALS':
      return `NOT ${isOneOf([value])}`;
    case 'IN':
      return isOneOf(values);
    case 'NOT_IN':
      return `NOT ${isOneOf(values)}`;
    case 'CONTAINS':
      return contains;
    case 'NOT_CONTAINS':
      return `NOT ${contains}`;
    case 'IS_SET':
      return `(${of} IS NOT NULL)`;
    case 'IS_NOT_SET':
      return `(${of} IS NULL)`;
    case 'LT':
      return `coalesce(${compares('<', value)}, false)`;
    case 'LTE':
      return `coalesce(${compares('<=', value)}, false)`;
    case 'GT':
      return `coalesce(${compares('>', value)}, false)`;
    case 'GTE':
      return `coalesce(${compares('>=', value)}, false)`;
    case 'BETWEEN':
      return within();
    case 'NOT_BETWEEN':
      return `((${of} IS NULL) OR (${isNumber} AND NOT ${within()}))`;
    default:
      throw new Error(`no such operator: ${operator}`);
  }
}

export function all(conditions: readonly string[], operator: 'AND' | 'OR' = 'AND'): string {
  return conditions.length === 0 ? 'true' : `(${conditions.join(` ${operator} `)})`;
}

/** The event has the kind and meets the event's own filters. */
export function meetsScope({ kind = '', kinds = [], filters = [] }: EventFilter = {}): string {
  const named = kind === '' ? kinds : [kind];
  const ofKind = `kind IN (${named.map(text).join(', ')})`;
  return all([...(named.length === 0 ? [] : [ofKind]), ...filters.map(condition)]);
}
