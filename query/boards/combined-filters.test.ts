import { create } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { LogicalOperator } from '../../proto/gen/common/v1/filter_pb.js';
import { FilterGroupSchema } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { combinedFilters, type FilterGroups } from './combined-filters.ts';

const { AND, OR, UNSPECIFIED } = LogicalOperator;

/** Groups of filters that are named by a letter: `a&b` is a group, `a|b` another, `` and `|` are empty ones. */
function groupsOf(operator: LogicalOperator, ...texts: readonly string[]): FilterGroups {
  const groups = texts.map((text) =>
    create(FilterGroupSchema, {
      filters: text.split(/[&|]/).flatMap((property) => (property === '' ? [] : { property })),
      operator: text.includes('|') ? OR : AND,
    }),
  );
  return { groups, operator };
}

/** Whether the filters hold where those of `held` do. */
function holds({ groups, operator }: FilterGroups, held: ReadonlySet<string>): boolean {
  const each = groups.map(({ filters, operator: inside }) => {
    const met = filters.map(({ property }) => held.has(property));
    return inside === OR && met.length > 0 ? met.includes(true) : !met.includes(false);
  });
  return operator === OR && each.length > 0 ? each.includes(true) : !each.includes(false);
}

const sets: [string, FilterGroups][] = [
  ['one condition', groupsOf(UNSPECIFIED, 'a')],
  ['all of two', groupsOf(AND, 'a&b')],
  ['any of two', groupsOf(AND, 'a|b')],
  ['two groups', groupsOf(UNSPECIFIED, 'a|b', 'c')],
  ['any of single conditions', groupsOf(OR, 'a', 'b')],
  ['any of pairs', groupsOf(OR, 'a&b', 'c&d')],
  ['any of mixed groups', groupsOf(OR, 'a|b', 'c&d')],
  ['the one group of any', groupsOf(OR, 'a&b')],
  ['an empty group of any', groupsOf(OR, '|')],
  ['an empty group beside one', groupsOf(AND, '', 'a|b')],
  ['an empty group or one', groupsOf(OR, '|', 'a')],
];
const other = (set: FilterGroups): FilterGroups => ({
  ...set,
  groups: set.groups.map((group) => ({
    ...group,
    filters: group.filters.map((filter) => ({ ...filter, property: `${filter.property}'` })),
  })),
});
const letters = ['a', 'b', 'c', 'd', "a'", "b'", "c'", "d'"];

describe.each(sets)('%s', (_, first) => {
  it.each(sets)('and %s hold together where both do', (__, same) => {
    const second = other(same);
    const both = combinedFilters(first, second);
    for (let bits = 0; bits < 256; bits++) {
      const held = new Set(letters.filter((___, index) => (bits >> index) % 2 === 1));
      expect(holds(both, held)).toBe(holds(first, held) && holds(second, held));
    }
  });
});

it('leaves one set alone where the other is empty', () => {
  const some = groupsOf(OR, 'a&b', 'c');
  const none = groupsOf(AND);
  expect(combinedFilters(some, none)).toBe(some);
  expect(combinedFilters(none, some)).toBe(some);
});

it('refuses alternatives that multiply beyond what a question may have', () => {
  const pairs = Array.from({ length: 8 }, (_, index) => `x${index}&y${index}`);
  const many = groupsOf(OR, ...pairs);
  expect(() => combinedFilters(many, many)).toThrow(
    expect.objectContaining({
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining('multiply to more than 50 filters'),
    }),
  );
});
