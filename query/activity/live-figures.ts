// ActivityService.GetLiveFigures: who was heard of just now, by the time of receipt. A live view shows what arrives,
// also where it occurred yesterday: no question counts that, because questions go by occur_time.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  type GetLiveFiguresRequest,
  type GetLiveFiguresResponse,
  GetLiveFiguresResponseSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import type { Deadline } from '../deadline.ts';
import { type Bindings, createBindings } from '../filters/bindings.ts';
import { personJoinSql, userKeySql } from '../insights/sql/persons.ts';
import { momentMs } from '../moment.ts';
import { readRows } from '../read-rows.ts';

const visitorsMs = 5 * 60_000;
const eventSeconds = 60;
const maxCountries = 100;
const maxCharacters = 65_536;

interface LiveFiguresOptions {
  clickhouse: RowReader;
  clock: Clock;
  /** undefined: this process does not know. */
  looksUpPlaces: boolean | undefined;
}

/** Throws invalid_argument, resource_exhausted where the store lacks memory, and the client's errors. */
export async function getLiveFigures(
  { clickhouse, clock, looksUpPlaces }: LiveFiguresOptions,
  projectId: string,
  request: GetLiveFiguresRequest,
  deadline: Deadline,
): Promise<GetLiveFiguresResponse> {
  const untilMs = momentMs('eventsUntil', request.eventsUntil);
  const read = async (sqlOf: (project: string, bindings: Bindings) => string) => {
    const bindings = createBindings();
    const sql = sqlOf(bindings.bind('String', projectId), bindings);
    const bounds = { deadline, maxRows: maxCountries, maxCharacters };
    const result = await readRows(clickhouse, { sql, params: bindings.params }, bounds);
    if (result.kind === 'rows') return result.rows.map((row) => row.map(String));
    throw new ConnectError('the store lacks memory: ask again', Code.ResourceExhausted);
  };
  const sinceMs = clock.nowMs() - visitorsMs;
  const [countries, seconds] = await Promise.all([
    read((project, bindings) => visitorsSql(project, momentSql(sinceMs, bindings))),
    untilMs === undefined
      ? undefined
      : read((project, bindings) => eventsSql(project, untilMs, bindings)),
  ]);
  const [, , , visitors = '0', bots = '0'] = countries[0] ?? [];
  const counts = new Map(seconds?.map(([second = '', count = '']) => [second, BigInt(count)]));
  return create(GetLiveFiguresResponseSchema, {
    visitors: BigInt(visitors),
    bots: BigInt(bots),
    countries: countries.map(([country = '', people = '', crawlers = '']) => ({
      ...{ country, visitors: BigInt(people), bots: BigInt(crawlers) },
    })),
    events: seconds
      ? Array.from({ length: eventSeconds }, (_, second) => counts.get(String(second)) ?? 0n)
      : [],
    ...(looksUpPlaces !== undefined && { looksUpPlaces }),
  });
}

/**
 * Rows of country, visitors, bots, and the last two of all countries. A visitor with events of a browser and of a
 * server is in the browser's country, and a bot where no event of it is anybody else's.
 */
function visitorsSql(project: string, since: string): string {
  const user = userKeySql({ project, hasDeletions: () => true }, true);
  return `SELECT last_country, countIf(NOT is_bot) AS people, countIf(is_bot) AS crawlers,
      sum(people) OVER (), sum(crawlers) OVER ()
    FROM (
      SELECT ${user} AS user_key, argMaxIf(country, receive_time, country != '') AS last_country,
        min(bool_properties['$bot']) AS is_bot
      FROM events ${personJoinSql(project)}
      WHERE project_id = ${project} AND receive_time >= ${since}
      GROUP BY user_key HAVING user_key != 0)
    GROUP BY last_country ORDER BY people + crawlers DESC, last_country LIMIT ${maxCountries}`;
}

/** Rows of a second, from 0, and its events. */
function eventsSql(project: string, untilMs: number, bindings: Bindings): string {
  const fromMs = untilMs - eventSeconds * 1_000;
  const [from, until] = [momentSql(fromMs, bindings), momentSql(untilMs, bindings)];
  return `SELECT intDiv(toUnixTimestamp64Milli(receive_time) - ${bindings.bind('Int64', fromMs)}, 1000) AS second, count()
    FROM events WHERE project_id = ${project} AND receive_time >= ${from} AND receive_time < ${until}
    GROUP BY second ORDER BY second LIMIT ${eventSeconds}`;
}

function momentSql(ms: number, bindings: Bindings): string {
  return `fromUnixTimestamp64Milli(${bindings.bind('Int64', ms)}, 'UTC')`;
}
