// Questions that need more than they may have: they go to disk first, beyond that they are refused, and the engine goes
// on. Many boards at once are all answered.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AggregationType,
  InsightType,
  LeftOut_Reason,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';

const MiB = 1_048_576;
const engine = useEngine();
const project = randomUUID();
const fromMs = Date.UTC(2026, 9, 1);
const people = 400_000;

const services: ReadService[] = [];
async function serviceOf(insightMemoryBytes: number): Promise<ReadService> {
  const service = await startReadService({ clickhouseUrl: engine.url, insightMemoryBytes });
  services.push(service);
  return service;
}
let service: ReadService;
beforeAll(async () => {
  service = await serviceOf(96 * MiB);
  await service.clickhouse.command({
    query: `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, occur_time, receive_time, string_properties)
      SELECT '${project}', generateUUIDv4(), 'k', toString(number), generateUUIDv4(), fromUnixTimestamp64Milli(${fromMs} + number * 1000), now64(3),
        map('text', concat('a value of some length ', toString(number)))
      FROM numbers(${people}) SETTINGS max_block_size = 20000, min_insert_block_size_rows = 20000, max_insert_threads = 1`,
  });
});
afterAll(() => Promise.all(services.map((one) => one.stop())));

const timeRange = { from: timestampFromMs(fromMs), to: timestampFromMs(fromMs + 3e9) };
const ask = (from: ReadService, aggregation: AggregationType) =>
  from.insights(project).query({
    spec: {
      insightType: InsightType.SEGMENTATION,
      events: [{ event: { kind: 'k' }, aggregation }],
      breakdowns: [{ property: 'text' }],
    },
    timeRange,
  });

describe('a breakdown into hundreds of thousands of groups', () => {
  it('goes to disk where its groups do not fit into its memory', async () => {
    const { result, leftOut } = await ask(service, AggregationType.TOTAL);
    expect(result.case === 'segmentation' && result.value.total).toBe(people);
    expect(leftOut).toMatchObject([{ reason: LeftOut_Reason.GROUPS_IN_OTHERS }]);
    expect(leftOut[0]?.count).toBe(BigInt(people - 10));
  });

  it('is refused where even that is not enough, and the engine goes on', async () => {
    const small = await serviceOf(16 * MiB);
    for (const aggregation of [AggregationType.TOTAL, AggregationType.UNIQUE_USERS]) {
      const error = await ask(small, aggregation).then(
        () => expect.fail('taken'),
        ConnectError.from,
      );
      expect(error.code).toBe(Code.ResourceExhausted);
      expect(error.rawMessage).toContain('ask for a shorter range');
    }
    const { result } = await small.insights(project).query({
      spec: { insightType: InsightType.SEGMENTATION, events: [{ event: { kind: 'k' } }] },
      timeRange,
    });
    expect(result.case === 'segmentation' && result.value.total).toBe(people);
  });
});

it('32 readers at once, each a board in turn, are all answered', async () => {
  const boards = Array.from({ length: 32 }, async (_, reader) => {
    for (let tile = 0; tile < 2; tile++) {
      const { result } = await service.insights(project).query({
        spec: {
          insightType: InsightType.SEGMENTATION,
          events: [{ event: { kind: 'k' }, aggregation: AggregationType.TOTAL }],
        },
        // Of each reader and tile another one, so that nothing is shared or kept.
        timeRange: {
          from: timestampFromMs(fromMs),
          to: timestampFromMs(fromMs + 10_000_000 + 1_000 * (2 * reader + tile)),
        },
      });
      const events = 10_000 + 2 * reader + tile;
      expect(result.case === 'segmentation' && result.value.total).toBe(events);
    }
  });
  await Promise.all(boards);
});
