// Makes one set of filter groups of two sets that must both hold. A question has two levels, conditions in groups:
// where one of the sets says that any of its groups suffices, the alternatives of both are multiplied out.

import { create } from '@bufbuild/protobuf';
import { maxFilters } from '../../platform/filters/filter-bounds.ts';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import { LogicalOperator, type PropertyFilter } from '../../proto/gen/common/v1/filter_pb.js';
import {
  type FilterGroup,
  FilterGroupSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';

export interface FilterGroups {
  groups: readonly FilterGroup[];
  /** How the groups combine; AND unless it is OR. */
  operator: LogicalOperator;
}

/** Conditions that must all hold. */
type Term = readonly PropertyFilter[];

const { AND, OR } = LogicalOperator;

/** Throws invalid_argument where multiplying out takes more filters than a question may have. */
export function combinedFilters(one: FilterGroups, other: FilterGroups): FilterGroups {
  const [first, second] = [withoutEmpty(one), withoutEmpty(other)];
  if (first.groups.length === 0) return second;
  if (second.groups.length === 0) return first;
  const sides = [first, second].map(asConjunction);
  if (sides.every(isConjunction)) {
    return { groups: sides.flatMap(({ groups }) => groups), operator: AND };
  }
  const terms = product(sides.map(termsOf));
  const groups = terms.map((filters) =>
    create(FilterGroupSchema, { filters: [...filters], operator: AND }),
  );
  return { groups, operator: OR };
}

/** An empty group always holds: it adds nothing where all must hold, and is enough where one must. */
function withoutEmpty(side: FilterGroups): FilterGroups {
  const groups = side.groups.filter(({ filters }) => filters.length > 0);
  if (groups.length === side.groups.length) return side;
  return { ...side, groups: side.operator === OR ? [] : groups };
}

function isConjunction({ groups, operator }: FilterGroups): boolean {
  return operator !== OR || groups.length < 2;
}

/** Alternatives of single conditions are one group of them. */
function asConjunction(side: FilterGroups): FilterGroups {
  if (isConjunction(side)) return side;
  if (!side.groups.every((group) => isAlternative(group))) return side;
  const filters = side.groups.flatMap((group) => group.filters);
  return { groups: [create(FilterGroupSchema, { filters, operator: OR })], operator: AND };
}

function isAlternative({ filters, operator }: FilterGroup): boolean {
  return filters.length === 1 || operator === OR;
}

/** The terms of which one must hold. */
function termsOf(side: FilterGroups): Term[] {
  const ofGroups = side.groups.map((group) =>
    isAlternative(group) ? group.filters.map((filter) => [filter]) : [group.filters],
  );
  return isConjunction(side) ? product(ofGroups) : ofGroups.flat();
}

/** One term of each side, in all combinations. */
function product(sides: readonly (readonly Term[])[]): Term[] {
  let terms: Term[] = [[]];
  for (const side of sides) {
    // A term holds a filter at least: looked at before the work.
    if (terms.length * side.length > maxFilters) throw tooMany();
    terms = terms.flatMap((term) => side.map((other) => [...term, ...other]));
  }
  if (terms.reduce((sum, term) => sum + term.length, 0) > maxFilters) throw tooMany();
  return terms;
}

function tooMany(): Error {
  const rule = `with those of the dashboard, alternatives multiply to more than ${maxFilters} filters`;
  return invalidArgument('spec.filterGroups', rule);
}
