// Checks the requests of methods that answer events and turns them into conditions on events. The whole request is
// checked before the engine is asked anything; running statements is event-page.ts's.

import { clone, type DescMessage, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { checkEventKinds } from '../../platform/filters/event-kinds.ts';
import {
  checkFilterCount,
  checkFilters,
  checkKinds,
  looksForPart,
  type NamedFilter,
} from '../../platform/filters/filter-bounds.ts';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import {
  hasMoreCodePoints,
  maxDistinctIdCodePoints,
  maxQuestionMs,
  minQuestionMs,
} from '../../platform/limits.ts';
import type {
  EventFilter,
  PropertyFilter,
  TimeRange,
} from '../../proto/gen/common/v1/filter_pb.js';
import { decodeCursor, type Position } from '../cursor.ts';
import { type Bindings, createBindings } from '../filters/bindings.ts';
import { kindsOf, kindsSql } from '../filters/event-kinds.ts';
import { filterCondition } from '../filters/filter.ts';
import { idBytesSql } from '../identity/identity-sql.ts';
import {
  eventsListedSql,
  type ListedSegments,
  noSegments,
} from '../insights/segments/listed-persons.ts';
import { momentMs } from '../moment.ts';
import { type PersonAsked, type PersonsAsked, personOf } from './person-events.ts';

/** Items of a page: without a pageSize, and at most. */
interface PageSizes {
  usual: number;
  most: number;
}

const ofEvents: PageSizes = { usual: 100, most: 1_000 };
const maxEventFilters = 50;

/** A request by the names of List's fields. */
export interface EventsAsked {
  distinctId: string;
  profileId: string;
  sessionId: string;
  kinds: readonly string[];
  filters: readonly PropertyFilter[];
  /** The caller's name of `filters`. */
  filtersField: string;
  /** An event meets at least one of them, where there are any. */
  events: readonly EventFilter[];
  timeRange?: TimeRange | undefined;
  pageSize: number;
  pageToken: string;
}

/** A checked request. */
export interface ActivitySelection extends PersonsAsked {
  /** SQL for all conditions but `persons`, to each of whom an event must belong, the time range and `after`. */
  condition: string;
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

/**
 * `seal`: `sealOf` the request; `listed`: the segments that it names. Throws invalid_argument that names the field and
 * its rule.
 */
export function readSelection(
  projectId: string,
  request: EventsAsked,
  seal: Uint8Array,
  listed: ListedSegments = noSegments,
): ActivitySelection {
  checkSize(request);
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const range = readTimeRange(request.timeRange);
  const conditions = [
    `project_id = ${project}`,
    ...sessionConditions(request, bindings),
    ...kindConditions(request, bindings),
    ...filterConditions(request, bindings),
    ...eventConditions(request, bindings),
    ...eventsListedSql({ projectId, project, bindings, range }, listed),
  ];
  return {
    condition: conditions.join(' AND '),
    persons: [...distinctIdPerson(request, project, bindings), ...profilePerson(request, bindings)],
    project,
    bindings,
    isNarrow: request.distinctId !== '' || request.profileId !== '' || request.sessionId !== '',
    ...range,
    pageSize: readPageSize(request.pageSize),
    after: readPageToken(request.pageToken, seal),
    conditions: seal,
  };
}

/**
 * Checks filters, each of which an event must meet, of a request that names neither kinds nor users; answers the
 * function that writes them as SQL. Throws invalid_argument that names the filter and its rule.
 */
export function readFilters(filters: readonly PropertyFilter[]): (bindings: Bindings) => string[] {
  const filtersField = 'filters';
  checkFilterCount(filters.length, filtersField);
  const named = filters.map((filter, index) => ({ filter, path: `${filtersField}[${index}]` }));
  checkFilters(named, filtersField, [], ({ operator }) => looksForPart(operator));
  const meets = (bindings: Bindings) => filterConditions({ filters, filtersField }, bindings);
  meets(createBindings());
  return meets;
}

/** Before any processing, and each count before what it counts. */
function checkSize({ distinctId, kinds, filters, filtersField, events }: EventsAsked): void {
  checkKinds(kinds);
  checkEventFilters(events);
  const ofEvents = events.reduce((sum, event) => sum + event.filters.length, 0);
  checkFilterCount(filters.length + ofEvents, filtersField);
  const named = [
    ...filters.map((filter, index) => ({ filter, path: `${filtersField}[${index}]` })),
    ...namedFilters(events),
  ];
  const texts = [distinctId, ...kinds, ...events.flatMap(kindsOf)];
  checkFilters(named, filtersField, texts, ({ operator }) => looksForPart(operator));
}

/**
 * Throws invalid_argument for too many, for one of several that says nothing, and for a kind that no event has.
 * `member`: where an item of `events` holds its filter, such as `.event`.
 */
export function checkEventFilters(events: readonly EventFilter[], member = ''): void {
  if (events.length > maxEventFilters) {
    throw invalidArgument('events', `takes at most ${maxEventFilters}`);
  }
  for (const [index, event] of events.entries()) {
    const path = `events[${index}]${member}`;
    const { filters } = event;
    checkEventKinds(event, path);
    const kinds = kindsOf(event);
    if (kinds.length === 0 && filters.length === 0 && events.length > 1) {
      throw invalidArgument(path, 'must have a kind or filters where it is one of several');
    }
    const odd = kinds.findIndex((kind) => !/^[a-zA-Z0-9_.-]+$/.test(kind));
    if (odd >= 0) {
      const field = event.kinds.length > 0 ? `kinds[${odd}]` : 'kind';
      throw invalidArgument(`${path}.${field}`, 'is not the name of a kind');
    }
  }
}

/** With the paths that name them in errors. */
function namedFilters(events: readonly EventFilter[]): NamedFilter[] {
  return events.flatMap(({ filters }, place) =>
    filters.map((filter, index) => ({
      filter,
      path: `events[${place}].filters[${index}]`,
    })),
  );
}

function distinctIdPerson(
  { distinctId }: EventsAsked,
  project: string,
  bindings: Bindings,
): PersonAsked[] {
  if (distinctId === '') return [];
  checkDistinctId(distinctId);
  return [personOf(distinctId, project, bindings)];
}

export function checkDistinctId(distinctId: string): void {
  if (hasMoreCodePoints(distinctId, maxDistinctIdCodePoints)) {
    throw invalidArgument('distinctId', `takes at most ${maxDistinctIdCodePoints} code points`);
  }
}

function profilePerson({ profileId }: EventsAsked, bindings: Bindings): PersonAsked[] {
  if (profileId === '') return [];
  if (!/^[0-9a-f]{32}$/.test(profileId)) {
    throw invalidArgument('profileId', 'must be 32 lower-case hex digits');
  }
  return [{ id: idBytesSql(bindings.bind('String', profileId)), own: 'false' }];
}

function sessionConditions({ sessionId }: EventsAsked, bindings: Bindings): string[] {
  if (sessionId === '') return [];
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(sessionId)) {
    throw invalidArgument('sessionId', 'must be a UUID');
  }
  return [`session_id = ${bindings.bind('UUID', sessionId.toLowerCase())}`];
}

function kindConditions({ kinds }: EventsAsked, bindings: Bindings): string[] {
  if (kinds.length === 0) return [];
  return [`kind IN ${bindings.bind('Array(String)', kinds)}`];
}

function filterConditions(
  { filters, filtersField }: Pick<EventsAsked, 'filters' | 'filtersField'>,
  bindings: Bindings,
): string[] {
  return filters.map((filter, index) =>
    filterCondition(filter, `${filtersField}[${index}]`, bindings),
  );
}

function eventConditions({ events }: EventsAsked, bindings: Bindings): string[] {
  if (events.length === 0) return [];
  const conditions = events.map((event, place) => {
    const ofKind = kindsSql(event, bindings) ?? [];
    const held = event.filters.map((filter, index) =>
      filterCondition(filter, `events[${place}].filters[${index}]`, bindings),
    );
    return `(${[ofKind, held].flat().join(' AND ') || 'true'})`;
  });
  return [`(${conditions.join(' OR ')})`];
}

/** Throws invalid_argument; the whole time that events may have where no end is given. */
export function readTimeRange(timeRange: TimeRange | undefined): { fromMs: number; toMs: number } {
  const fromMs = momentMs('timeRange.from', timeRange?.from) ?? minQuestionMs;
  const toMs = momentMs('timeRange.to', timeRange?.to) ?? maxQuestionMs;
  if (timeRange?.from !== undefined && timeRange.to !== undefined && fromMs > toMs) {
    throw invalidArgument('timeRange', 'from must not be after to');
  }
  return { fromMs: Math.max(fromMs, minQuestionMs), toMs: Math.min(toMs, maxQuestionMs) };
}

/** Throws invalid_argument beyond the most; 0 means the usual. Those of events unless given. */
export function readPageSize(pageSize: number, { usual, most } = ofEvents): number {
  if (pageSize === 0) return usual;
  if (pageSize > 0 && pageSize <= most) return pageSize;
  throw invalidArgument('pageSize', `must be from 1 to ${most}`);
}

/** Throws invalid_argument for a token that was not answered to `conditions`. */
export function readPageToken(pageToken: string, conditions: Uint8Array): Position | undefined {
  if (pageToken === '') return undefined;
  const position = decodeCursor(pageToken, conditions);
  if (position !== undefined) return position;
  throw invalidArgument('pageToken', 'must be a nextPageToken answered to the same conditions');
}

/** The bytes of everything that selects items of a paged request: all but its page. They seal page tokens. */
export function sealOf<Desc extends DescMessage>(
  schema: Desc,
  projectId: string,
  request: MessageShape<Desc> & { pageSize: number; pageToken: string },
): Uint8Array {
  const conditions = { ...clone(schema, request), pageSize: 0, pageToken: '' };
  const bytes = toBinary(schema, conditions, { writeUnknownFields: false });
  return Buffer.concat([Buffer.from(`${projectId}\0`), bytes]);
}
