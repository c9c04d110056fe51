// ActivityService.IngestHealth: what of a project was refused lately, what could not be stored, and how far its set-up
// has come.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  type IngestHealthRequest,
  type IngestHealthResponse,
  IngestHealthResponseSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import type { Deadline } from '../deadline.ts';
import { readRows } from '../read-rows.ts';
import { readDeadLetters, readPageAsked } from './dead-letter-page.ts';
import type { LiveViews } from './live-views.ts';

interface HealthOptions {
  clickhouse: RowReader;
  live: { refusals: Pick<LiveViews['refusals'], 'report'> } & Pick<LiveViews, 'preflightMs'>;
  clock: Clock;
}

/** Throws invalid_argument for a request that breaks a rule, and the client's errors. */
export async function ingestHealth(
  { clickhouse, live, clock }: HealthOptions,
  projectId: string,
  request: IngestHealthRequest,
  deadline: Deadline,
): Promise<IngestHealthResponse> {
  const asked = readPageAsked(projectId, request);
  const at = { nowMs: clock.nowMs(), deadline };
  const [{ letters, nextPageToken }, identifyMs] = await Promise.all([
    readDeadLetters([clickhouse], projectId, asked, at),
    readIdentifyMs(clickhouse, projectId, deadline),
  ]);
  const preflightMs = live.preflightMs();
  const report = live.refusals.report(projectId);
  const response = create(IngestHealthResponseSchema, {
    since: timestampFromMs(report.sinceMs),
    untold: BigInt(report.untold),
    nextPageToken,
    ...(preflightMs !== undefined && { preflightTime: timestampFromMs(preflightMs) }),
    ...(identifyMs !== undefined && { identifyTime: timestampFromMs(identifyMs) }),
  });
  response.refusals = report.refusals;
  response.counts = report.counts;
  response.exclusions = report.exclusions;
  response.deadLetters = letters.map(({ letter }) => letter);
  return response;
}

/**
 * When a profile was last made by a call. The table has the order of creation, so this reads the end of each part; a
 * profile that was deleted or merged since counts, so no row is compared with others.
 */
async function readIdentifyMs(
  clickhouse: RowReader,
  projectId: string,
  deadline: Deadline,
): Promise<number | undefined> {
  const sql = `SELECT toUnixTimestamp64Milli(listed_time) FROM profiles_by_creation
    WHERE project_id = {project:String} ORDER BY listed_time DESC LIMIT 1 SETTINGS max_threads = 1`;
  const bounds = { deadline, maxRows: 1, maxCharacters: 100 };
  const result = await readRows(clickhouse, { sql, params: { project: projectId } }, bounds);
  if (result.kind === 'too-large') {
    throw new ConnectError('the store lacks memory: ask again', Code.ResourceExhausted);
  }
  const [row] = result.rows;
  return row === undefined ? undefined : Number(row[0]);
}
