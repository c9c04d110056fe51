// REVENUE by so many groups that all their buckets are far more than a question's memory takes as one value.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  Granularity,
  InsightType,
  LeftOut_Reason,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../test/harness/services/read-service.ts';

const MiB = 1_048_576;
const dayMs = 86_400_000;
const engine = useEngine();
const project = randomUUID();
const fromMs = Date.UTC(2026, 9, 1);
const [days, products] = [30, 10_000];
/** Measured: with 88 MiB they are answered; as one value of all groups of a currency they take more than 104. */
const memoryBytes = 104 * MiB;

let service: ReadService;
beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    insightMemoryBytes: memoryBytes,
  });
  // Each product is paid for once a day.
  await service.clickhouse.command({
    query: `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, occur_time, receive_time,
        string_properties, double_properties)
      SELECT '${project}', generateUUIDv4(), 'purchase', 'ada', generateUUIDv4(),
        fromUnixTimestamp64Milli(${fromMs} + (number % ${days}) * ${dayMs}), now64(3),
        map('currency', 'EUR', 'product', leftPad(toString(intDiv(number, ${days})), 5, '0')), map('amount', 2)
      FROM numbers(${days * products})
      SETTINGS max_block_size = 20000, min_insert_block_size_rows = 20000, max_insert_threads = 1`,
  });
});
afterAll(() => service.stop());

it('is answered where its buckets do not fit into its memory', async () => {
  const { result, leftOut } = await service.insights(project).query({
    spec: {
      insightType: InsightType.REVENUE,
      events: [{ event: { kind: 'purchase' } }],
      breakdowns: [{ property: 'product' }],
    },
    granularity: Granularity.DAY,
    timeRange: { from: timestampFromMs(fromMs), to: timestampFromMs(fromMs + days * dayMs) },
  });
  if (result.case !== 'revenue') throw new Error('no revenue');
  const { series } = result.value;
  const sums = (value: number): number[] => Array.from({ length: days }, () => value);
  expect(series.map(({ points }) => points.map(({ value }) => value))).toEqual([
    ...Array.from({ length: 10 }, () => sums(2)),
    sums(2 * (products - 10)),
  ]);
  expect(leftOut).toMatchObject([
    { reason: LeftOut_Reason.GROUPS_IN_OTHERS, count: BigInt(products - 10) },
  ]);
});
