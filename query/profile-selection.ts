// The rules of ProfilesService.List's request, and the condition that its filter groups put on profiles. All of a
// request is checked here before anything is asked of the engine.

import { clone, toBinary } from '@bufbuild/protobuf';
import {
  LogicalOperator,
  type PropertyFilter,
  PropertySource,
} from '../proto/gen/common/v1/filter_pb.js';
import {
  type FilterGroup,
  type ListRequest,
  ListRequestSchema,
} from '../proto/gen/shared/profiles/v1/profiles_pb.js';
import { maxFilters, maxFilterValues, maxRequestTextBytes } from './activity-selection.ts';
import type { Bindings } from './bindings.ts';
import { decodeCursor, type Position } from './cursor.ts';
import { checkPropertyName, comparison } from './filter.ts';
import { invalidArgument } from './invalid-argument.ts';
import { textComparisons, traitComparisons } from './profile-condition.ts';

export const maxFilterGroups = 50;

/** Columns that a condition on activity reads, by property. */
const activityColumns: ReadonlyMap<string, string> = new Map([
  ['$browser', 'browser'],
  ['$browserVersion', 'browser_version'],
  ['$os', 'os'],
  ['$osVersion', 'os_version'],
  ['$device', 'device'],
  ['$country', 'country'],
  ['$region', 'region'],
  ['$city', 'city'],
]);

export interface ProfileSelection {
  /** SQL over `traits` and the activity's columns. */
  condition: string;
  /** The condition reads columns of the activity. */
  readsActivity: boolean;
  /** The last profile of the page before. */
  after: Position | undefined;
  /** All that selects profiles, as bytes: the seal of page tokens. */
  conditions: Uint8Array;
}

/** Throws invalid_argument that names the field and its rule. */
export function readProfileSelection(
  projectId: string,
  request: ListRequest,
  bindings: Bindings,
): ProfileSelection {
  checkSize(request);
  const { filterGroups, filterGroupsOperator } = request;
  const groups = filterGroups.map((group, index) =>
    groupCondition(group, `filterGroups[${index}]`, bindings),
  );
  const filters = filterGroups.flatMap((group) => group.filters);
  const conditions = conditionBytes(projectId, request);
  return {
    condition: combine(groups, filterGroupsOperator, 'filterGroupsOperator'),
    readsActivity: filters.some(({ source }) => source === PropertySource.AUTO),
    after: readPageToken(request, conditions),
    conditions,
  };
}

function checkSize({ filterGroups }: ListRequest): void {
  if (filterGroups.length > maxFilterGroups) {
    throw invalidArgument('filterGroups', `takes at most ${maxFilterGroups}`);
  }
  const filters = filterGroups.flatMap((group) => group.filters);
  if (filters.length > maxFilters) {
    throw invalidArgument('filterGroups', `takes at most ${maxFilters} filters together`);
  }
  const values = filters.reduce((sum, filter) => sum + filter.values.length, 0);
  if (values > maxFilterValues) {
    throw invalidArgument('filterGroups', `take at most ${maxFilterValues} values together`);
  }
  const texts = filters.flatMap(({ property, value, values }) => [property, value, ...values]);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes <= maxRequestTextBytes) return;
  throw invalidArgument('filterGroups', `texts take at most ${maxRequestTextBytes} bytes together`);
}

function groupCondition(group: FilterGroup, path: string, bindings: Bindings): string {
  const filters = group.filters.map((filter, index) =>
    oneCondition(filter, `${path}.filters[${index}]`, bindings),
  );
  return combine(filters, group.operator, `${path}.operator`);
}

function combine(conditions: readonly string[], operator: LogicalOperator, path: string): string {
  const all = (word: string): string =>
    conditions.length === 0 ? 'true' : `(${conditions.map((one) => `(${one})`).join(word)})`;
  switch (operator) {
    case LogicalOperator.UNSPECIFIED:
    case LogicalOperator.AND:
      return all(' AND ');
    case LogicalOperator.OR:
      return all(' OR ');
    default: {
      const unknown: never = operator;
      throw invalidArgument(path, `${Number(unknown)} is not an operator`);
    }
  }
}

function oneCondition(filter: PropertyFilter, path: string, bindings: Bindings): string {
  checkPropertyName(filter, path);
  const { property, source } = filter;
  switch (source) {
    case PropertySource.UNSPECIFIED:
    case PropertySource.PROFILE:
      return comparison(filter, path, traitComparisons(property, bindings));
    case PropertySource.AUTO: {
      const column = activityColumns.get(property);
      if (column !== undefined) return comparison(filter, path, textComparisons(column, bindings));
      const names = [...activityColumns.keys()].join(', ');
      throw invalidArgument(`${path}.property`, `the source AUTO has ${names}`);
    }
    case PropertySource.CUSTOM:
      throw invalidArgument(`${path}.source`, 'profiles have traits and the source AUTO only');
    default: {
      const unknown: never = source;
      throw invalidArgument(`${path}.source`, `${Number(unknown)} is not a source`);
    }
  }
}

function readPageToken({ pageToken }: ListRequest, conditions: Uint8Array): Position | undefined {
  if (pageToken === '') return undefined;
  const position = decodeCursor(pageToken, conditions);
  if (position !== undefined) return position;
  throw invalidArgument('pageToken', 'must be a nextPageToken answered to the same filters');
}

function conditionBytes(projectId: string, request: ListRequest): Uint8Array {
  const conditions = clone(ListRequestSchema, request);
  conditions.pageToken = '';
  const bytes = toBinary(ListRequestSchema, conditions, { writeUnknownFields: false });
  return Buffer.concat([Buffer.from(`profiles\0${projectId}\0`), bytes]);
}
