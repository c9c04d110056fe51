// ActivityService.IngestHealth: what of a project was refused lately, and what could not be stored.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  type IngestHealthRequest,
  type IngestHealthResponse,
  IngestHealthResponseSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import type { Deadline } from '../deadline.ts';
import { readDeadLetters, readPageAsked } from './dead-letter-page.ts';
import type { RefusalLog } from './refusal-log.ts';

interface HealthOptions {
  clickhouse: RowReader;
  refusals: Pick<RefusalLog, 'report'>;
  clock: Clock;
}

/** Throws invalid_argument for a request that breaks a rule, and the client's errors. */
export async function ingestHealth(
  { clickhouse, refusals, clock }: HealthOptions,
  projectId: string,
  request: IngestHealthRequest,
  deadline: Deadline,
): Promise<IngestHealthResponse> {
  const asked = readPageAsked(projectId, request);
  const at = { nowMs: clock.nowMs(), deadline };
  const { letters, nextPageToken } = await readDeadLetters(clickhouse, projectId, asked, at);
  const report = refusals.report(projectId);
  const response = create(IngestHealthResponseSchema, {
    since: timestampFromMs(report.sinceMs),
    untold: BigInt(report.untold),
    nextPageToken,
  });
  response.refusals = report.refusals;
  response.counts = report.counts;
  response.deadLetters = letters.map(({ letter }) => letter);
  return response;
}
