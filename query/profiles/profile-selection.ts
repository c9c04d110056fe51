// Checks ProfilesService.List's request and turns its filter groups into a condition on profiles. The whole request is
// checked before the engine is asked anything; running statements is profile-page.ts's.

import { clone, toBinary } from '@bufbuild/protobuf';
import {
  checkFilterCount,
  checkFilters,
  checkGroupCount,
  checkGroups,
  looksForPart,
} from '../../platform/filters/filter-bounds.ts';
import { checkPropertyName, heldByAbsence } from '../../platform/filters/filter-rules.ts';
import { invalidArgument, notKnown } from '../../platform/http/answers/invalid-argument.ts';
import {
  LogicalOperator,
  type PropertyFilter,
  PropertySource,
} from '../../proto/gen/common/v1/filter_pb.js';
import {
  type FilterGroup,
  type ListRequest,
  ListRequestSchema,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import type { Bindings } from '../filters/bindings.ts';
import { comparison } from '../filters/filter.ts';
import { textComparisons, traitComparisons } from '../filters/profile-condition.ts';

/** From a property of the activity to its text, '' where it is absent. */
const activityTexts: ReadonlyMap<string, string> = new Map([
  ['$browser', 'browser'],
  ['$browserVersion', 'browser_version'],
  ['$os', 'os'],
  ['$osVersion', 'os_version'],
  ['$device', 'device'],
  ['$country', 'country'],
  ['$region', 'region'],
  ['$city', 'city'],
  ['$bot', "if(bot, 'true', '')"],
]);

/** The condition that filters put on a profile. */
export interface ProfileCondition {
  /** SQL over `traits` and the activity's columns. */
  sql: string;
  /** SQL over traits alone and over activity alone, which must both hold; undefined if an OR joins the two. */
  parts: { traits: string; activity: string } | undefined;
  /** False if no profile without traits can meet the condition, with any activity. */
  admitsTraitless: boolean;
}

/** The condition that every profile meets. */
export const always = 'true';

interface ProfileSelection {
  condition: ProfileCondition;
  /** The bytes of everything that selects profiles; they seal page tokens. */
  conditions: Uint8Array;
}

/**
 * `inSegments`: SQL over `id` for the segments that the request names. Throws invalid_argument that names the field and
 * its rule.
 */
export function readProfileSelection(
  projectId: string,
  request: ListRequest,
  bindings: Bindings,
  inSegments = always,
): ProfileSelection {
  checkSize(request);
  const { filterGroups, filterGroupsOperator } = request;
  checkGroups(filterGroups, filterGroupsOperator, 'filterGroups');
  const groups = filterGroups.map((group, index) =>
    groupCondition(group, `filterGroups[${index}]`, bindings),
  );
  const filtered = combine(groups, filterGroupsOperator, 'filterGroupsOperator');
  // A segment is a set of ids, whatever is known of them.
  const parts = { traits: inSegments, activity: always };
  return {
    condition: allOf([filtered, { sql: inSegments, parts, admitsTraitless: true }]),
    conditions: conditionBytes(projectId, request),
  };
}

/** Before any processing, and each count before what it counts. */
function checkSize({ filterGroups }: ListRequest): void {
  checkGroupCount(filterGroups.length, 'filterGroups');
  const count = filterGroups.reduce((sum, group) => sum + group.filters.length, 0);
  checkFilterCount(count, 'filterGroups');
  const named = filterGroups.flatMap((group, place) =>
    group.filters.map((filter, index) => ({
      filter,
      path: `filterGroups[${place}].filters[${index}]`,
    })),
  );
  checkFilters(named, 'filterGroups', [], isSearch);
}

/** A path into a trait has the engine parse the trait's JSON. */
function isSearch({ operator, property, source }: PropertyFilter): boolean {
  return looksForPart(operator) || (source !== PropertySource.AUTO && property.includes('.'));
}

function groupCondition(group: FilterGroup, path: string, bindings: Bindings): ProfileCondition {
  const filters = group.filters.map((filter, index) =>
    oneCondition(filter, `${path}.filters[${index}]`, bindings),
  );
  return combine(filters, group.operator, `${path}.operator`);
}

function combine(
  conditions: readonly ProfileCondition[],
  operator: LogicalOperator,
  path: string,
): ProfileCondition {
  switch (operator) {
    case LogicalOperator.UNSPECIFIED:
    case LogicalOperator.AND:
      return allOf(conditions);
    case LogicalOperator.OR:
      return conditions.length < 2 ? allOf(conditions) : anyOf(conditions);
    default:
      throw notKnown(path, operator, 'is not an operator');
  }
}

function allOf(conditions: readonly ProfileCondition[]): ProfileCondition {
  const parts = conditions.flatMap(({ parts }) => (parts === undefined ? [] : [parts]));
  const traits = joined(parts, 'AND', (part) => part.traits);
  const activity = joined(parts, 'AND', (part) => part.activity);
  return {
    sql: joined(conditions, 'AND', ({ sql }) => sql),
    parts: parts.length === conditions.length ? { traits, activity } : undefined,
    admitsTraitless: conditions.every(({ admitsTraitless }) => admitsTraitless),
  };
}

function anyOf(conditions: readonly ProfileCondition[]): ProfileCondition {
  const sql = joined(conditions, 'OR', (condition) => condition.sql);
  const isOnly = (part: 'traits' | 'activity'): boolean =>
    conditions.every((condition) => condition.parts?.[part] === condition.sql);
  let parts: ProfileCondition['parts'];
  if (isOnly('traits')) parts = { traits: sql, activity: always };
  else if (isOnly('activity')) parts = { traits: always, activity: sql };
  const admitsTraitless = conditions.some((condition) => condition.admitsTraitless);
  return { sql, parts, admitsTraitless };
}

function joined<T>(all: readonly T[], word: 'AND' | 'OR', sqlOf: (one: T) => string): string {
  const terms = all.map(sqlOf).filter((sql) => word === 'OR' || sql !== always);
  return terms.length === 0 ? always : `(${terms.map((sql) => `(${sql})`).join(` ${word} `)})`;
}

function oneCondition(filter: PropertyFilter, path: string, bindings: Bindings): ProfileCondition {
  checkPropertyName(filter, path);
  const { property, source } = filter;
  switch (source) {
    case PropertySource.UNSPECIFIED:
    case PropertySource.PROFILE: {
      const sql = comparison(filter, path, traitComparisons(property, bindings));
      const admitsTraitless = heldByAbsence(filter.operator);
      return { sql, parts: { traits: sql, activity: always }, admitsTraitless };
    }
    case PropertySource.AUTO: {
      const text = activityTexts.get(property);
      if (text !== undefined) {
        const sql = comparison(filter, path, textComparisons(text, bindings));
        return { sql, parts: { traits: always, activity: sql }, admitsTraitless: true };
      }
      const names = [...activityTexts.keys()].join(', ');
      throw invalidArgument(`${path}.property`, `the source AUTO has ${names}`);
    }
    case PropertySource.CUSTOM:
      throw invalidArgument(`${path}.source`, 'profiles have traits and the source AUTO only');
    default:
      throw notKnown(`${path}.source`, source, 'is not a source');
  }
}

/** Where the page before ended, by the token that the order's own `decode` reads. Throws invalid_argument. */
export function afterToken<P>(
  { pageToken }: ListRequest,
  decode: (token: string) => P | undefined,
): P | undefined {
  if (pageToken === '') return undefined;
  const place = decode(pageToken);
  if (place !== undefined) return place;
  throw invalidArgument(
    'pageToken',
    'must be a nextPageToken answered to the same filters and order',
  );
}

function conditionBytes(projectId: string, request: ListRequest): Uint8Array {
  const conditions = clone(ListRequestSchema, request);
  conditions.pageToken = '';
  conditions.withWorth = false;
  const bytes = toBinary(ListRequestSchema, conditions, { writeUnknownFields: false });
  return Buffer.concat([Buffer.from(`profiles\0${projectId}\0`), bytes]);
}
