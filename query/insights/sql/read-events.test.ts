// Which part of the table a range of time reads, on a real engine.

import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  InsightType,
  QueryRequestSchema,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../../test/harness/services/read-service.ts';
import { every } from '../read/event-condition.ts';
import { readQuestion } from '../read/question.ts';
import { readEventsSql } from './read-events.ts';

const engine = useEngine();
const project = randomUUID();
const dayMs = 86_400_000;
const fromMs = Date.UTC(2026, 9, 1);
const eventsADay = 20_000;
let service: ReadService;

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
  await service.clickhouse.command({
    query: `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, occur_time, receive_time)
      SELECT '${project}', generateUUIDv4(), 'k', 'somebody', toUUID('${randomUUID()}'),
        fromUnixTimestamp64Milli(${fromMs} + intDiv(number * ${dayMs}, ${eventsADay})), now64(3)
      FROM numbers(${5 * eventsADay}) SETTINGS max_block_size = 100000, min_insert_block_size_rows = 100000`,
  });
});
afterAll(() => service.stop());

it('reads the days of its range, and not the others of the same part', async () => {
  const request = create(QueryRequestSchema, {
    spec: { insightType: InsightType.SEGMENTATION },
    timeRange: {
      from: timestampFromMs(fromMs + 2 * dayMs),
      to: timestampFromMs(fromMs + 3 * dayMs),
    },
  });
  const question = readQuestion(project, request);
  const sql = readEventsSql(question, { condition: every });
  const { data } = await (
    await service.clickhouse.query({
      query: `EXPLAIN ESTIMATE ${sql}`,
      query_params: { ...question.bindings.params },
      format: 'JSON',
    })
  ).json<{ rows: string }>();
  // A granule at either end may have rows of another day.
  expect(Number(data[0]?.rows)).toBeGreaterThanOrEqual(eventsADay);
  expect(Number(data[0]?.rows)).toBeLessThan(2 * eventsADay);
});
