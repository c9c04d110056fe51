// Attempts at webhooks that told of a person: all attempts at each delivery whose payload names one of the ids, because
// a receiver's answer may repeat it. The log is in the order of organizations, so that each day's rows are looked at.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import {
  type HeldAttempt,
  HeldAttemptSchema,
} from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import type { Deadline } from '../../deadline.ts';
import { readRows } from '../../read-rows.ts';

/** Attempts of one message; fewer where their payloads are large. */
const pageSize = 100;
const maxPageCharacters = 1_048_576;
/** The log keeps thirty days, and the engine deletes later than that. */
const maxDays = 60;

/** `clickhouse`: the group of the store that has the log. Throws the client's errors. */
export async function* readHeldAttempts(
  clickhouse: RowReader,
  projectId: string,
  texts: readonly string[],
  startDeadline: () => Deadline,
): AsyncGenerator<HeldAttempt[]> {
  const params = { project: projectId, texts };
  const days = await rowsOf(clickhouse, startDeadline(), maxDays, {
    sql: `SELECT DISTINCT toString(toDate(attempt_time)) AS day FROM webhook_attempts
      WHERE project_id = {project:String} ORDER BY day LIMIT ${maxDays}`,
    params,
  });
  for (const [day] of days.rows) {
    for (let after: readonly unknown[] = [0, '']; ; ) {
      const [afterMs, afterId] = after;
      const read = await rowsOf(clickhouse, startDeadline(), pageSize, {
        sql: pageSql,
        params: { ...params, day, afterMs, afterId },
      });
      if (read.rows.length > 0) yield read.rows.map(heldAttempt);
      if (read.rows.length < pageSize && !read.stopped) break;
      after = read.rows.at(-1) ?? after;
    }
  }
}

/** Deliveries whose first attempt was on the day, with their attempts of any day. */
const pageSql = `SELECT toUnixTimestamp64Milli(attempt_time), attempt_id, delivery_id, webhook_id, event_type,
    endpoint_url, status, payload, response_body
  FROM webhook_attempts FINAL
  WHERE project_id = {project:String} AND attempt_time >= toDateTime64({day:Date}, 3, 'UTC')
    AND delivery_id IN (SELECT delivery_id FROM webhook_attempts
      WHERE project_id = {project:String} AND toDate(attempt_time) = {day:Date} AND is_first
        AND JSONExtractString(payload, 'data', 'distinctId') IN {texts:Array(String)})
    AND (attempt_time, attempt_id) > (fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC'), {afterId:String})
  ORDER BY attempt_time, attempt_id LIMIT ${pageSize}`;

async function rowsOf(
  clickhouse: RowReader,
  deadline: Deadline,
  maxRows: number,
  statement: { sql: string; params: Readonly<Record<string, unknown>> },
): Promise<{ rows: unknown[][]; stopped: boolean }> {
  const bounds = { deadline, maxRows, maxCharacters: maxPageCharacters };
  const read = await readRows(clickhouse, statement, bounds);
  if (read.kind === 'rows') return read;
  throw new ConnectError('the attempts are too large to be read', Code.ResourceExhausted);
}

function heldAttempt(row: readonly unknown[]): HeldAttempt {
  const [attemptMs, , deliveryId = '', webhookId = '', eventType = '', ...rest] = row.map(String);
  const [endpointUrl = '', status = '', payload = '', responseBody = ''] = rest;
  return create(HeldAttemptSchema, {
    ...{ deliveryId, webhookId, eventType, endpointUrl, status, payload, responseBody },
    attemptTime: timestampFromMs(Number(attemptMs)),
  });
}
