// The bounds on all filters of one request, looked at before any filter is read. The meaning of a filter is
// filter-rules.ts's.

import {
  FilterOperator,
  LogicalOperator,
  type PropertyFilter,
} from '../../proto/gen/common/v1/filter_pb.js';
import { invalidArgument } from '../http/answers/invalid-argument.ts';
import { hasMoreCodePoints, maxKindCharacters, maxStringValueCodePoints } from '../limits.ts';
import { foldCase } from './fold-case.ts';

/** Of one request. */
export const maxFilters = 50;
const maxFilterGroups = 50;
const maxKinds = 100;
/** The most values that all filters of a request have together. */
const maxValues = 1_000;
/**
 * The most bytes of a request's texts, each written as JSON: bound parameters travel in a URL, where a byte becomes
 * twelve at most (a quote, escaped, in two forms), and servers take a MiB of them.
 */
const maxTextBytes = 65_536;
/**
 * Filters that go through every character of a text. Ten of them take some 50 ns a byte, so that the engine looks at
 * its time limit within a second even where each row has 64 KiB of text.
 */
const maxSearches = 10;
/**
 * The search is an automaton with a state for each character of the part and, where the part repeats itself, as many
 * positions in each state: 256 characters take a MB of the 8 that the engine's regular expressions have. Where that is
 * full, as with 1,000 characters, a search takes a thousand times as long.
 */
const maxSearchedCodePoints = 256;

/** A filter with the path that names it in errors, such as `filters[2]`. */
export interface NamedFilter {
  filter: PropertyFilter;
  path: string;
}

/**
 * Throws invalid_argument for a group without filters, which always holds, where it would let everything pass: where
 * any of its filters suffices, or it itself among other groups.
 */
export function checkGroups(
  groups: readonly { filters: readonly unknown[]; operator: LogicalOperator }[],
  operator: LogicalOperator,
  path: string,
): void {
  const { OR } = LogicalOperator;
  const oneSuffices = operator === OR && groups.length > 1;
  const empty = groups.findIndex(
    (group) => group.filters.length === 0 && (oneSuffices || group.operator === OR),
  );
  if (empty === -1) return;
  const rule = 'must not be empty where one of several suffices';
  throw invalidArgument(`${path}[${empty}].filters`, rule);
}

/** Throws invalid_argument, naming `field` and the rule, if that many groups are too many. Call it first. */
export function checkGroupCount(count: number, field: string): void {
  if (count > maxFilterGroups) throw invalidArgument(field, `takes at most ${maxFilterGroups}`);
}

/** The same for that many filters, of all groups together. */
export function checkFilterCount(count: number, field: string): void {
  if (count > maxFilters)
    throw invalidArgument(field, `takes at most ${maxFilters} filters together`);
}

/**
 * Throws invalid_argument if filters or `others`, the request's other texts, are together more than one request may
 * have. `isSearch`: the filter goes through its texts.
 */
export function checkFilters(
  filters: readonly NamedFilter[],
  field: string,
  others: readonly string[],
  isSearch: (filter: PropertyFilter) => boolean,
): void {
  const values = filters.reduce((sum, { filter }) => sum + filter.values.length, 0);
  if (values > maxValues) throw invalidArgument(field, `take at most ${maxValues} values together`);
  let bytes = others.reduce((sum, text) => sum + jsonBytes(text), 0);
  for (const { filter, path } of filters) bytes += checkedBytes(filter, path);
  if (bytes > maxTextBytes) {
    throw invalidArgument(field, `texts take at most ${maxTextBytes} bytes of JSON together`);
  }
  if (filters.filter(({ filter }) => isSearch(filter)).length > maxSearches) {
    const rule = `take at most ${maxSearches} searches (CONTAINS, NOT_CONTAINS, a path into a trait) together`;
    throw invalidArgument(field, rule);
  }
}

/** The bytes of the filter's texts. Throws invalid_argument for a value that is too long. */
function checkedBytes({ property, value, values, operator }: PropertyFilter, path: string): number {
  const maxCodePoints = looksForPart(operator) ? maxSearchedCodePoints : maxStringValueCodePoints;
  checkLength(value, `${path}.value`, maxCodePoints);
  if (looksForPart(operator)) checkFolded(value, `${path}.value`);
  let bytes = jsonBytes(property) + jsonBytes(value);
  for (const [index, text] of values.entries()) {
    checkLength(text, `${path}.values[${index}]`, maxCodePoints);
    bytes += jsonBytes(text);
  }
  return bytes;
}

function checkLength(text: string, field: string, maxCodePoints: number): void {
  if (hasMoreCodePoints(text, maxCodePoints)) {
    throw invalidArgument(field, `takes at most ${maxCodePoints} code points`);
  }
}

/** What is searched is the folded part: ΐ alone becomes three characters. */
function checkFolded(text: string, field: string): void {
  if (hasMoreCodePoints(foldCase(text), maxSearchedCodePoints)) {
    throw invalidArgument(
      field,
      `takes at most ${maxSearchedCodePoints} code points, with ß as ss and the like`,
    );
  }
}

export function looksForPart(operator: FilterOperator): boolean {
  return operator === FilterOperator.CONTAINS || operator === FilterOperator.NOT_CONTAINS;
}

/** A text is not written as JSON where its length alone is beyond the bound. */
function jsonBytes(text: string): number {
  return text.length > maxTextBytes ? text.length : Buffer.byteLength(JSON.stringify(text));
}

/** Throws invalid_argument, naming the field, for too many kinds and for a kind that no event has. */
export function checkKinds(kinds: readonly string[]): void {
  if (kinds.length > maxKinds) throw invalidArgument('kinds', `takes at most ${maxKinds}`);
  for (const [index, kind] of kinds.entries()) {
    const field = `kinds[${index}]`;
    if (kind === '') throw invalidArgument(field, 'must not be empty');
    if (kind.length > maxKindCharacters) {
      throw invalidArgument(field, `takes at most ${maxKindCharacters} characters`);
    }
  }
}
