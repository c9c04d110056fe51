// How a question about groups is narrowed to those beyond the greatest hundred: to values that have a text, and that
// are none of those that are known. Each number of a narrowed question is that of the whole one.

import { create } from '@bufbuild/protobuf';
import {
  FilterOperator,
  type PropertyFilter,
  PropertyFilterSchema,
} from '../../../proto/gen/common/v1/filter_pb.js';
import { valueName } from '../../results/names.ts';
import { hostsOf } from '../../sources/source-of.ts';

/** Values of a group by its property; undefined is its absence. */
export type Texts = readonly (string | undefined)[];

/** A request takes 1,000 values and 64 KiB of JSON (filter-bounds.ts): some are left to the page's conditions. */
const maxExcluded = 900;
const maxExcludedBytes = 48_000;

/** Whether one more question can leave out all that is known. */
export function canExclude(known: Texts): boolean {
  const bytes = new TextEncoder().encode(JSON.stringify(known)).length;
  return known.length <= maxExcluded && bytes <= maxExcludedBytes;
}

/** Conditions on the property: its value has the text, where one is given, and is none of those that are known. */
export function narrowedTo(property: string, text: string, known: Texts): PropertyFilter[] {
  const values = known.filter((one) => one !== undefined);
  const { CONTAINS, NOT_IN, IS_SET } = FilterOperator;
  const filter = (of: Partial<Pick<PropertyFilter, 'operator' | 'value' | 'values'>>) =>
    create(PropertyFilterSchema, { property, ...of });
  return [
    ...(text === '' ? [] : [filter({ operator: CONTAINS, value: storedText(property, text) })]),
    ...(values.length > 0 ? [filter({ operator: NOT_IN, values })] : []),
    ...(values.length < known.length ? [filter({ operator: IS_SET })] : []),
  ];
}

/** The condition that the property has one of these values. */
export function oneOf(property: string, values: readonly string[]): PropertyFilter {
  const operator = FilterOperator.IN;
  return create(PropertyFilterSchema, { property, operator, values: [...values] });
}

/** Of a condition (filter-bounds.ts). */
const maxTextLength = 256;

/**
 * Paths are stored as browsers send them, and shown as people read them. Half of a pair of UTF-16 has no such form; of
 * a long text the beginning is looked for.
 */
function storedText(property: string, text: string): string {
  if (property !== '$pathname') return text;
  return text
    .replace(/[^\p{ASCII}\p{Cs}]+| /gu, (letters) => encodeURIComponent(letters))
    .slice(0, maxTextLength)
    .replace(/%[0-9A-F]?$/, '');
}

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const maxNamed = 100;

/** Values whose name has the text, while they themselves may not: DE for "germ", t.co for "X". */
export function namedLike(property: string, text: string): string[] {
  const sought = text.toLowerCase();
  switch (property) {
    case '$country':
      return letters
        .flatMap((first) => letters.map((second) => first + second))
        .filter((code) => {
          const name = valueName(property, code);
          return name !== code && name.toLowerCase().includes(sought);
        })
        .slice(0, maxNamed);
    case '$referrerDomain':
      return hostsOf(text).slice(0, maxNamed);
    default:
      return [];
  }
}
