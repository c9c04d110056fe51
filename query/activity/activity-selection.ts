// Checks ActivityService.List's request and turns it into conditions on events. The whole request is checked before the
// engine is asked anything; running statements is list-activity.ts's.

import { clone, toBinary } from '@bufbuild/protobuf';
import {
  hasMoreCodePoints,
  maxDistinctIdCodePoints,
  maxQuestionMs,
  minQuestionMs,
} from '../../platform/limits.ts';
import {
  type ListRequest,
  ListRequestSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { decodeCursor, type Position } from '../cursor.ts';
import { type Bindings, createBindings } from '../filters/bindings.ts';
import { filterCondition } from '../filters/filter.ts';
import {
  checkFilterCount,
  checkFilters,
  checkKinds,
  looksForPart,
} from '../filters/filter-bounds.ts';
import { idBytesSql, profileIdSql } from '../identity/identity-sql.ts';
import { invalidArgument } from '../invalid-argument.ts';
import { momentMs } from '../moment.ts';

/** Events of a page: without a pageSize, and at most. */
const defaultPageSize = 100;
const maxPageSize = 1_000;

/** A checked request. */
export interface ActivitySelection {
  /** SQL for all conditions but `persons`, the time range and `after`. */
  condition: string;
  /** An event must belong to each of these. */
  persons: readonly PersonAsked[];
  /** The placeholder of the project's id. */
  project: string;
  bindings: Bindings;
  /** The request names a user or a visit: few events, spread over a long time. */
  isNarrow: boolean;
  /** Half-open, in milliseconds since the epoch. */
  fromMs: number;
  toMs: number;
  pageSize: number;
  /** The last event of the page before. */
  after: Position | undefined;
  /** The bytes of everything that selects events; they seal page tokens. */
  conditions: Uint8Array;
}

/** A person, named by any of their ids. */
interface PersonAsked {
  /** SQL for the 16 bytes of the profile's id. */
  id: string;
  /** SQL for events to select besides the person's. */
  own: string;
}

/** Throws invalid_argument that names the field and its rule. */
export function readSelection(projectId: string, request: ListRequest): ActivitySelection {
  checkSize(request);
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const conditions = [
    `project_id = ${project}`,
    ...sessionConditions(request, bindings),
    ...kindConditions(request, bindings),
    ...filterConditions(request, bindings),
  ];
  const seal = conditionBytes(projectId, request);
  return {
    condition: conditions.join(' AND '),
    persons: [...distinctIdPerson(request, project, bindings), ...profilePerson(request, bindings)],
    project,
    bindings,
    isNarrow: request.distinctId !== '' || request.profileId !== '' || request.sessionId !== '',
    ...readTimeRange(request),
    pageSize: readPageSize(request),
    after: readPageToken(request, seal),
    conditions: seal,
  };
}

/** Before any processing, and each count before what it counts. */
function checkSize({ distinctId, kinds, filters }: ListRequest): void {
  checkKinds(kinds);
  checkFilterCount(filters.length, 'filters');
  const named = filters.map((filter, index) => ({ filter, path: `filters[${index}]` }));
  checkFilters(named, 'filters', [distinctId, ...kinds], ({ operator }) => looksForPart(operator));
}

// `own` finds cookieless visitors, who have no profile, by their id as it is stored.
function distinctIdPerson(
  { distinctId }: ListRequest,
  project: string,
  bindings: Bindings,
): PersonAsked[] {
  if (distinctId === '') return [];
  if (hasMoreCodePoints(distinctId, maxDistinctIdCodePoints)) {
    throw invalidArgument('distinctId', `takes at most ${maxDistinctIdCodePoints} code points`);
  }
  const bound = bindings.bind('String', distinctId);
  return [{ id: profileIdSql(project, bound), own: `distinct_id = ${bound}` }];
}

function profilePerson({ profileId }: ListRequest, bindings: Bindings): PersonAsked[] {
  if (profileId === '') return [];
  if (!/^[0-9a-f]{32}$/.test(profileId)) {
    throw invalidArgument('profileId', 'must be 32 lower-case hex digits');
  }
  return [{ id: idBytesSql(bindings.bind('String', profileId)), own: 'false' }];
}

function sessionConditions({ sessionId }: ListRequest, bindings: Bindings): string[] {
  if (sessionId === '') return [];
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(sessionId)) {
    throw invalidArgument('sessionId', 'must be a UUID');
  }
  return [`session_id = ${bindings.bind('UUID', sessionId.toLowerCase())}`];
}

function kindConditions({ kinds }: ListRequest, bindings: Bindings): string[] {
  if (kinds.length === 0) return [];
  return [`kind IN ${bindings.bind('Array(String)', kinds)}`];
}

function filterConditions({ filters }: ListRequest, bindings: Bindings): string[] {
  return filters.map((filter, index) => filterCondition(filter, `filters[${index}]`, bindings));
}

function readTimeRange({ timeRange }: ListRequest): { fromMs: number; toMs: number } {
  const fromMs = momentMs('timeRange.from', timeRange?.from) ?? minQuestionMs;
  const toMs = momentMs('timeRange.to', timeRange?.to) ?? maxQuestionMs;
  if (timeRange?.from !== undefined && timeRange.to !== undefined && fromMs > toMs) {
    throw invalidArgument('timeRange', 'from must not be after to');
  }
  return { fromMs: Math.max(fromMs, minQuestionMs), toMs: Math.min(toMs, maxQuestionMs) };
}

function readPageSize({ pageSize }: ListRequest): number {
  if (pageSize === 0) return defaultPageSize;
  if (pageSize > 0 && pageSize <= maxPageSize) return pageSize;
  throw invalidArgument('pageSize', `must be from 1 to ${maxPageSize}`);
}

function readPageToken({ pageToken }: ListRequest, conditions: Uint8Array): Position | undefined {
  if (pageToken === '') return undefined;
  const position = decodeCursor(pageToken, conditions);
  if (position !== undefined) return position;
  throw invalidArgument('pageToken', 'must be a nextPageToken answered to the same conditions');
}

function conditionBytes(projectId: string, request: ListRequest): Uint8Array {
  const conditions = clone(ListRequestSchema, request);
  conditions.pageSize = 0;
  conditions.pageToken = '';
  const bytes = toBinary(ListRequestSchema, conditions, { writeUnknownFields: false });
  return Buffer.concat([Buffer.from(`${projectId}\0`), bytes]);
}
