// The rows of a ranking, of the answers to its two questions.

import { othersName } from '../../../platform/words/insight-words.ts';
import { readablePath } from '../../../platform/words/readable-path.ts';
import { FilterOperator, PropertySource } from '../../../proto/gen/common/v1/filter_pb.js';
import type { QueryResponse } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Condition } from '../../filter/condition.ts';
import { isValue } from '../../question/rows-link.ts';

/** A group of an answer. `text`: undefined where the property is absent. */
export type Group = { text: string | undefined; value: number; isRest: boolean };

export type RankedRow = {
  /** Of what it stands for, other than that of each other row. */
  key: string;
  name: string;
  /** The values of the property that it stands for; none of all others. */
  texts: readonly (string | undefined)[];
  value: number;
  /** undefined where it is not known. */
  second: number | undefined;
  isRest: boolean;
};

/** The groups of a ranking by `property`, or of kinds where there is none; the greatest first, all others last. */
export function groupsOf({ result }: QueryResponse, property: string | undefined): Group[] {
  switch (result.case) {
    case 'segmentation':
      return result.value.series.map(({ breakdown, value = 0, isOthers }) => ({
        ...{ text: property === undefined ? undefined : breakdown[property], value },
        isRest: isOthers,
      }));
    case 'topK':
      return result.value.rows.map(({ dimensionValue = '', value = 0, isOthers, isAbsent }) => ({
        ...{ text: isAbsent || isOthers ? undefined : dimensionValue, value },
        isRest: isOthers,
      }));
    default:
      return [];
  }
}

export function rankedRows(
  groups: readonly Group[],
  second: readonly Group[] | undefined,
  nameOf: (text: string | undefined) => string,
): RankedRow[] {
  const others = new Map(second?.map((group) => [keyOf(group), group.value]));
  return groups.map((group) => {
    const { text, value, isRest } = group;
    return {
      ...{ key: keyOf(group), value, isRest },
      name: isRest ? othersName : nameOf(text),
      texts: isRest ? [] : [text],
      // Two questions may fold other groups into all others.
      second: isRest ? undefined : others.get(keyOf(group)),
    };
  });
}

function keyOf({ text, isRest }: Group): string {
  if (isRest) return 'rest';
  return text === undefined ? 'absent' : `=${text}`;
}

/**
 * Rows of visits, with those of one site as one: each visit is of one row, so that their numbers add up, and rates are
 * worked out of the numbers that they came from. Where some groups are in all others, a site may have more there:
 * then nothing is put together. `siteOf`: the name of a value's site.
 */
export function withSites(
  rows: readonly RankedRow[],
  siteOf: (text: string) => string | undefined,
): RankedRow[] {
  if (rows.some(({ isRest }) => isRest)) return [...rows];
  const sites = new Map<string, RankedRow>();
  for (const row of rows) {
    const [text] = row.texts;
    const site = text === undefined ? undefined : siteOf(text);
    const key = site === undefined ? row.key : `site ${site}`;
    const before = sites.get(key);
    if (!before) {
      sites.set(key, { ...row, key });
      continue;
    }
    sites.set(key, {
      ...before,
      texts: [...before.texts, ...row.texts],
      value: before.value + row.value,
      second: rateOfBoth(before, row),
    });
  }
  return [...sites.values()].sort((one, other) => other.value - one.value);
}

function rateOfBoth(one: RankedRow, other: RankedRow): number | undefined {
  if (one.second === undefined || other.second === undefined) return undefined;
  const counted = Math.round(one.second * one.value) + Math.round(other.second * other.value);
  return counted / (one.value + other.value);
}

/** The greatest `most` rows of visits, and one row that has all others. */
export function cutRows(rows: readonly RankedRow[], most: number): RankedRow[] {
  if (rows.filter(({ isRest }) => !isRest).length <= most) return [...rows];
  const rest = rows.slice(most).reduce((sum, { value }) => sum + value, 0);
  return [
    ...rows.slice(0, most),
    { key: 'rest', name: othersName, texts: [], value: rest, second: undefined, isRest: true },
  ];
}

/** The condition that a property is what a row stands for; undefined where no condition says that. */
export function conditionOf(property: string, { texts }: RankedRow): Condition | undefined {
  const [text] = texts;
  if (texts.length === 0) return undefined;
  if (texts.length === 1) return isValue(property, text);
  const values = texts.filter((one) => one !== undefined);
  if (values.length < texts.length) return undefined;
  return { property, operator: FilterOperator.IN, values, source: PropertySource.UNSPECIFIED };
}

/** Those whose name or value has the text, whatever its case. */
export function searched(rows: readonly RankedRow[], text: string): RankedRow[] {
  const sought = text.trim().toLowerCase();
  if (sought === '') return [...rows];
  return rows.filter(
    ({ name, texts, isRest }) =>
      !isRest &&
      [name, readablePath(name), ...texts].some((one) => one?.toLowerCase().includes(sought)),
  );
}

/** Of all rows together, and of the longest bar. */
export function scaleOf(rows: readonly RankedRow[]): { total: number; most: number } {
  return {
    total: rows.reduce((sum, { value }) => sum + value, 0),
    most: Math.max(1e-9, ...rows.map(({ value, isRest }) => (isRest ? 0 : value))),
  };
}
