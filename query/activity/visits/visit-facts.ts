// What the visits of a page are, from their events: all of it of one moment, so that no number of a visit contradicts
// another while events arrive. Which visits these are is visit-starts.ts's.

import { create } from '@bufbuild/protobuf';
import { durationFromMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import { dayMs } from '../../../platform/clock.ts';
import { type Visit, VisitSchema } from '../../../proto/gen/shared/activity/v1/activity_pb.js';
import type { Deadline } from '../../deadline.ts';
import { createBindings } from '../../filters/bindings.ts';
import { profileIdSql } from '../../identity/identity-sql.ts';
import { eventOrderSql } from '../../insights/sql/read-events.ts';
import { readRows, type Statement } from '../../read-rows.ts';
import type { VisitStart } from './visit-starts.ts';

/** 200 visits of 14 texts each; a text has 1,024 code points, and JSON may write each as six characters. */
const maxCharacters = 17_825_792;

/** What the first event tells, by the names of columns of `events`. */
const ofFirstEvent = [
  ...['channel', 'referrer_domain', 'country', 'region', 'city'],
  ...['browser', 'os', 'device_type', 'utm_source'],
];

/**
 * In the order of `starts`, of which no two may be of one session and day. Their profile ids are those before merges.
 * Throws resource_exhausted and the client's errors.
 */
export async function readVisits(
  clickhouse: RowReader,
  projectId: string,
  starts: readonly VisitStart[],
  deadline: Deadline,
): Promise<Visit[]> {
  if (starts.length === 0) return [];
  const statement = factsSql(projectId, starts);
  const bounds = { deadline, maxRows: starts.length, maxCharacters };
  const result = await readRows(clickhouse, statement, bounds);
  if (result.kind === 'too-large') {
    const fewer = 'the visits have too many events: ask for smaller pages';
    throw new ConnectError(fewer, Code.ResourceExhausted);
  }
  const visits = new Map(result.rows.map((row) => [`${row[0]} ${row[1]}`, visitOf(row)]));
  return starts.flatMap(
    ({ sessionId, startMs }) => visits.get(`${sessionId} ${dayOf(startMs)}`) ?? [],
  );
}

/** The number of the UTC day. */
function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

/** A row for each visit. */
function factsSql(projectId: string, starts: readonly VisitStart[]): Statement {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const sessions = bindings.bind(
    'Array(String)',
    starts.map(({ sessionId }) => sessionId),
  );
  const firstDays = starts.map(({ startMs }) => dayOf(startMs));
  const days = bindings.bind(
    'Array(Int64)',
    firstDays.map((day) => BigInt(day)),
  );
  const begun = `(SELECT toUUID(one.1), toDate(one.2) FROM (SELECT arrayJoin(arrayZip(${sessions}, ${days})) AS one))`;
  const ofDay = `(SELECT arrayJoin([toDate(one), toDate(one + 1)]) FROM (SELECT arrayJoin(${days}) AS one))`;
  const isFirstDay = `(session_id, toDate(occur_time)) IN ${begun}`;
  const columns = ['session_id', 'occur_time', 'kind', 'pathname', 'cookieless', 'distinct_id'];
  const events = `SELECT ${[...columns, ...ofFirstEvent].join(', ')}, bool_properties['$bot'] AS bot,
      ${eventOrderSql} AS event_order, toDate(occur_time) - if(${isFirstDay}, 0, 1) AS first_day
    FROM events WHERE project_id = ${project} AND toDate(occur_time) IN ${ofDay}
      AND session_id IN (SELECT toUUID(arrayJoin(${sessions})))
      AND (${isFirstDay} OR (session_id, toDate(occur_time) - 1) IN ${begun})`;
  const first = ofFirstEvent.map((column) => `argMin(toString(${column}), event_order)`);
  const known = 'countIf(NOT cookieless) > 0';
  const person = `if(${known}, argMaxIf(distinct_id, event_order, NOT cookieless), argMax(distinct_id, event_order))`;
  const sql = `SELECT toString(session_id), toInt32(first_day), toUnixTimestamp64Milli(min(occur_time)),
      toUnixTimestamp64Milli(max(occur_time)), count(), countIf(kind = 'page_view'),
      argMinIf(pathname, event_order, kind = 'page_view'), argMaxIf(pathname, event_order, kind = 'page_view'),
      max(cookieless), max(bot), ${person} AS person,
      if(${known}, lower(hex(${profileIdSql(project, 'person')})), ''), ${first.join(', ')}
    FROM (${events}) GROUP BY session_id, first_day LIMIT ${starts.length}`;
  return { sql, params: bindings.params };
}

/** Of a row of factsSql. */
function visitOf(row: readonly unknown[]): Visit {
  const text = (place: number): string => String(row[place]);
  const startMs = Number(row[2]);
  return create(VisitSchema, {
    ...{ sessionId: text(0), startTime: timestampFromMs(startMs) },
    ...{ duration: durationFromMs(Number(row[3]) - startMs) },
    ...{ events: BigInt(text(4)), views: BigInt(text(5)), entryPage: text(6), exitPage: text(7) },
    ...{ cookieless: isTrue(row[8]), bot: isTrue(row[9]) },
    ...{ distinctId: text(10), profileId: text(11) },
    ...{ channel: text(12), referrerDomain: text(13), country: text(14), region: text(15) },
    ...{ city: text(16), browser: text(17), os: text(18), deviceType: text(19) },
    ...{ utmSource: text(20) },
  });
}

/** The greatest of truths is one in JSON, or a number. */
function isTrue(value: unknown): boolean {
  return value === true || value === 1;
}
