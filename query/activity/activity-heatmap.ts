// ActivityService.GetActivityHeatmap: how many events a user has on each day.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { type Clock, dayMs } from '../../platform/clock.ts';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import { maxQuestionMs, minQuestionMs } from '../../platform/limits.ts';
import {
  type ActivityDay,
  ActivityDaySchema,
  type GetActivityHeatmapRequest,
  type GetActivityHeatmapResponse,
  GetActivityHeatmapResponseSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { momentMs } from '../moment.ts';
import { maxReadRows, readRows } from '../read-rows.ts';
import { checkDistinctId } from './activity-selection.ts';
import { personConditions, personOf } from './person-events.ts';

const usualDays = 365;
const maxDays = 1_000;
const maxCharacters = 65_536;

interface HeatmapOptions {
  clickhouse: RowReader;
  clock: Clock;
}

/** Throws invalid_argument for a request that breaks a rule, and the client's errors. */
export async function getActivityHeatmap(
  options: HeatmapOptions,
  projectId: string,
  request: GetActivityHeatmapRequest,
  deadline: Deadline,
): Promise<GetActivityHeatmapResponse> {
  checkIsGiven(request.distinctId);
  const range = readRange(request, options.clock.nowMs());
  const days = await readDays(options.clickhouse, projectId, request.distinctId, range, deadline);
  return create(GetActivityHeatmapResponseSchema, { days });
}

/** Throws invalid_argument. */
export function checkIsGiven(distinctId: string): void {
  if (distinctId === '') throw invalidArgument('distinctId', 'must be given');
  checkDistinctId(distinctId);
}

/** Half-open, in milliseconds since the epoch. */
interface Range {
  fromMs: number;
  toMs: number;
}

/** The days until `nowMs` that are read unless a range is given. */
export function usualRange(nowMs: number): Range {
  return { fromMs: nowMs - usualDays * dayMs, toMs: nowMs };
}

function readRange({ timeRange }: GetActivityHeatmapRequest, nowMs: number): Range {
  const toMs = momentMs('timeRange.to', timeRange?.to) ?? nowMs;
  const fromMs = momentMs('timeRange.from', timeRange?.from) ?? usualRange(toMs).fromMs;
  if (fromMs > toMs) throw invalidArgument('timeRange', 'from must not be after to');
  if (toMs - fromMs > maxDays * dayMs) {
    throw invalidArgument('timeRange', `takes at most ${maxDays} days`);
  }
  return { fromMs: Math.max(fromMs, minQuestionMs), toMs: Math.min(toMs, maxQuestionMs) };
}

/** The UTC days with events of the user, merged ids included, the earliest first. */
export async function readDays(
  clickhouse: RowReader,
  projectId: string,
  distinctId: string,
  range: Range,
  deadline: Deadline,
): Promise<ActivityDay[]> {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const persons = [personOf(distinctId, project, bindings)];
  const asked = { persons, project, bindings };
  const [isTheirs] = await personConditions(clickhouse, asked, deadline);
  const moment = (ms: number): string =>
    `fromUnixTimestamp64Milli(${bindings.bind('Int64', ms)}, 'UTC')`;
  const sql = `SELECT toString(toDate(occur_time)) AS day, count() FROM events
    WHERE project_id = ${project} AND ${isTheirs}
      AND occur_time >= ${moment(range.fromMs)} AND occur_time < ${moment(range.toMs)}
    GROUP BY day ORDER BY day LIMIT ${maxReadRows}`;
  const bounds = { deadline, maxRows: maxReadRows, maxCharacters };
  const result = await readRows(clickhouse, { sql, params: bindings.params }, bounds);
  if (result.kind === 'too-large') {
    throw new ConnectError('the days are too many to count', Code.ResourceExhausted);
  }
  return result.rows.map(([date, count]) =>
    create(ActivityDaySchema, { date: String(date), count: BigInt(String(count)) }),
  );
}
