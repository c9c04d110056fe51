// InsightsService.SegmentUsers: who did something in a range, one page a call, in the order of profile ids, so that a
// page token stays right while events arrive. A user with events of merged ids alone is looked up by a second
// statement.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import { checkGroupCount } from '../../../platform/filters/filter-bounds.ts';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import type { WeekStartOf } from '../../../platform/zones/weeks.ts';
import type { EventFilter } from '../../../proto/gen/common/v1/filter_pb.js';
import {
  AggregationType,
  type EventQuery,
  type QuestionPoint,
  type SegmentUsersRequest,
  SegmentUsersRequestSchema,
  type SegmentUsersResponse,
  SegmentUsersResponseSchema,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import {
  checkEventFilters,
  readPageSize,
  readPageToken,
  readTimeRange,
  sealOf,
} from '../../activity/activity-selection.ts';
import { encodeCursor } from '../../cursor.ts';
import type { Deadline } from '../../deadline.ts';
import { createBindings } from '../../filters/bindings.ts';
import { kindsOf } from '../../filters/event-kinds.ts';
import { checkSegments, fieldsBelow, ownFields, withMore } from '../../filters/segment-filter.ts';
import { readRows, type Statement } from '../../read-rows.ts';
import { conditionIn, findSegments, idsIn, idsOf } from '../../segments/named-segments.ts';
import { anyOf, both, eventCondition, groupsCondition } from '../read/event-condition.ts';
import { checkFilterLists, type Question, wholeMinuteMs } from '../read/question.ts';
import {
  type ListedSegments,
  questionOfListed,
  readListed,
  type SegmentOptions,
} from '../segments/listed-persons.ts';
import { inSegments, keyTextSql } from '../sql/persons.ts';
import { readEventsSql } from '../sql/read-events.ts';
import { keysBehind, mergedIds, type Person, personsOf, type ReadRows } from './persons-behind.ts';
import { type PersonsPage, readPoint } from './question-point.ts';

/** A page of the persons behind a number: each is looked up. */
const maxPersons = 100;
/** Where an item of `events` holds its filter. */
const member = '.event';
/** A thousand ids of 512 code points, as JSON escapes them. */
const maxCharacters = 8_388_608;

export interface SegmentUsersOptions extends SegmentOptions {
  weekStartOf: WeekStartOf;
  clickhouse: RowReader;
}

/** Throws invalid_argument for a request that breaks a rule, resource_exhausted, and the client's errors. */
export async function segmentUsers(
  options: SegmentUsersOptions,
  projectId: string,
  request: SegmentUsersRequest,
  deadline: Deadline,
): Promise<SegmentUsersResponse> {
  const seal = sealOf(SegmentUsersRequestSchema, projectId, request);
  const afterKey = keyOf(readPageToken(request.pageToken, seal)?.id);
  const read: ReadRows = (statement, maxRows) =>
    readAll(options.clickhouse, statement, maxRows, deadline);
  const { point } = request;
  const users =
    point === undefined
      ? await usersWho(options, projectId, request, afterKey, read)
      : await usersBehind(options, projectId, { ...request, point }, afterKey, { deadline, read });
  const response = create(SegmentUsersResponseSchema, users);
  if (users.lastKey !== undefined) {
    response.nextPageToken = encodeCursor({ timeMs: 0, id: positionOf(users.lastKey) }, seal);
  }
  return response;
}

interface Users {
  distinctIds: string[];
  profiles?: Person['profile'][];
  /** Where there are more. */
  lastKey?: string | undefined;
}

/** Of a page of one row more than is answered. */
function lastKeyOf(keys: readonly string[], pageSize: number): string | undefined {
  return keys.length > pageSize ? keys[pageSize - 1] : undefined;
}

async function usersWho(
  options: SegmentUsersOptions,
  projectId: string,
  request: SegmentUsersRequest,
  afterKey: string,
  read: ReadRows,
): Promise<Users> {
  const events = eventsOf(request.events);
  checkSize(request, events);
  const pageSize = readPageSize(request.pageSize);
  const maxRows = pageSize + 1;
  const listed = await readListed(options, projectId, request);
  const statement = usersSql(projectId, request, events, listed, { afterKey, maxRows });
  const rows = await read(statement, maxRows);
  const page = rows.slice(0, pageSize).map(([key, id]) => ({ key: String(key), id: String(id) }));
  const unnamed = page.filter(({ id }) => id === '').map(({ key }) => key);
  const names = await mergedIds(projectId, unnamed, read);
  return {
    distinctIds: page.map(({ key, id }) => id || (names.get(key) ?? '')).filter(Boolean),
    lastKey: lastKeyOf(
      rows.map(([key]) => String(key)),
      pageSize,
    ),
  };
}

async function usersBehind(
  options: SegmentUsersOptions,
  projectId: string,
  request: SegmentUsersRequest & { point: QuestionPoint },
  afterKey: string,
  { deadline, read }: { deadline: Deadline; read: ReadRows },
): Promise<Users> {
  if (request.events.length > 0) throw notBesidePoint('events');
  if (request.filterGroups.length > 0) throw notBesidePoint('filterGroups');
  const pageSize = readPageSize(request.pageSize, { usual: maxPersons, most: maxPersons });
  const page = { afterKey, maxPersons: pageSize + 1 };
  const question = await readPointOf(options, projectId, request, page);
  const keys = await keysBehind(question, options.clickhouse, deadline, read);
  const persons = await personsOf(question, keys.slice(0, pageSize), read);
  return {
    distinctIds: persons.map(({ distinctId }) => distinctId),
    profiles: persons.map(({ profile }) => profile),
    lastKey: lastKeyOf(keys, pageSize),
  };
}

/** In the project's zone and weeks where it names none, with the segments that it names. */
async function readPointOf(
  { findSegment, timezoneOf, weekStartOf, clock }: SegmentUsersOptions,
  projectId: string,
  { point, timeRange, ...request }: SegmentUsersRequest & { point: QuestionPoint },
  page: PersonsPage,
): Promise<Question> {
  checkSegments(request);
  const { spec } = point;
  if (spec) checkSegments(spec, fieldsBelow('point.spec.'));
  const whose = 'point.spec';
  const asked = {
    ...{ ...point, timezone: point.timezone || timezoneOf(projectId) },
    weekStart: point.weekStart || weekStartOf(projectId),
    ...(spec && { spec: { ...spec, ...withMore(spec, request, { fields: ownFields, whose }) } }),
  };
  const question = readPoint(projectId, { point: asked, timeRange }, page);
  const { segments = [], notInSegments = [] } = spec ?? {};
  const own = { ...question.spec, segments, notInSegments };
  const named = idsOf(own).map(({ id, field }) => ({ id, field: `point.${field}` }));
  const found = await findSegments(findSegment, projectId, [...named, ...idsIn(request)]);
  return { ...question, nowMs: wholeMinuteMs(clock), conditionOf: conditionIn(found) };
}

function notBesidePoint(field: string): ConnectError {
  return invalidArgument(field, 'must be empty where point is set');
}

const { UNSPECIFIED, TOTAL, UNIQUE_USERS, PER_USER_AVG } = AggregationType;
/** Those that count events or users: whoever did it is behind the number. */
const counts: readonly AggregationType[] = [UNSPECIFIED, TOTAL, UNIQUE_USERS, PER_USER_AVG];

/** Throws invalid_argument for an item without an event, and for one that adds up a property. */
function eventsOf(queries: readonly EventQuery[]): EventFilter[] {
  return queries.map(({ event, aggregation, aggregationProperty }, index) => {
    const path = `events[${index}]`;
    if (event === undefined) throw invalidArgument(`${path}.event`, 'is required');
    if (!counts.includes(aggregation) || aggregationProperty !== '') {
      throw invalidArgument(`${path}.aggregation`, 'must count events or users, not a property');
    }
    return event;
  });
}

/** Before any processing, and each count before what it counts. */
function checkSize({ filterGroups }: SegmentUsersRequest, events: readonly EventFilter[]): void {
  checkEventFilters(events, member);
  checkGroupCount(filterGroups.length, 'filterGroups');
  const lists = [
    ...events.map(({ filters }, index) => ({ filters, path: `events[${index}]${member}` })),
    ...filterGroups.map(({ filters }, index) => ({ filters, path: `filterGroups[${index}]` })),
  ];
  checkFilterLists(lists, 'filterGroups', events.flatMap(kindsOf));
}

/** Rows of: a user's key in hex; the distinct id whose hash it is, '' where the user has events of merged ids alone. */
function usersSql(
  projectId: string,
  request: SegmentUsersRequest,
  events: readonly EventFilter[],
  listed: ListedSegments,
  { afterKey, maxRows }: { afterKey: string; maxRows: number },
): Statement {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const scope = { project, bindings };
  const { filterGroups, filterGroupsOperator } = request;
  const range = readTimeRange(request.timeRange);
  const asked = questionOfListed({ projectId, project, bindings, range }, listed);
  const inGroups = groupsCondition(filterGroups, filterGroupsOperator, scope, '');
  const question: Question = { ...asked, everyEvent: both(inGroups, inSegments(asked)) };
  const did = anyOf(
    events.map((event, index) => eventCondition(event, `events[${index}]${member}`, scope)),
  );
  const columns = { own_key: 'profile_key', own_id: 'distinct_id' };
  const read = readEventsSql(question, { condition: did, columns, withUser: true });
  const after = bindings.bind('String', afterKey);
  const sql = `SELECT ${keyTextSql('byteSwap(user_key)')} AS key, anyIf(own_id, own_key = user_key)
    FROM (${read}) WHERE user_key != 0 AND byteSwap(user_key) > reinterpretAsUInt64(reverse(unhex(${after})))
    GROUP BY user_key ORDER BY byteSwap(user_key) LIMIT ${maxRows}`;
  return { sql, params: bindings.params };
}

async function readAll(
  clickhouse: RowReader,
  statement: Statement,
  maxRows: number,
  deadline: Deadline,
): Promise<unknown[][]> {
  const result = await readRows(clickhouse, statement, { deadline, maxRows, maxCharacters });
  if (result.kind === 'rows' && !result.stopped) return result.rows;
  const narrower = 'the users are too many to find: ask for a shorter time or smaller pages';
  throw new ConnectError(narrower, Code.ResourceExhausted);
}

/** A page token names 16 bytes, of which a key is the first half. */
function positionOf(key: string): string {
  return `${key.slice(0, 8)}-${key.slice(8, 12)}-${key.slice(12, 16)}-0000-000000000000`;
}

const firstKey = '0'.repeat(16);

function keyOf(position: string | undefined): string {
  return position?.replaceAll('-', '').slice(0, firstKey.length) ?? firstKey;
}
