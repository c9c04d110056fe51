// A value of a type that its property never had, stored while a question is on its way.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, expect, it } from 'vitest';
import { InsightType } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../../test/harness/services/read-service.ts';
import {
  type StoredRow,
  storedRow,
  storeRows,
} from '../../../test/harness/tables/stored-events.ts';

const engine = useEngine();
const project = randomUUID();
const occurTimeMs = Date.UTC(2026, 9, 10);
let service: ReadService;
afterAll(() => service.stop());

const store = (fields: Partial<StoredRow>) =>
  storeRows(service.clickhouse, [storedRow({ projectId: project, occurTimeMs, ...fields })]);

it('is shown where the answer claims to count its event', async () => {
  let whileAsked = async (): Promise<void> => {};
  service = await startReadService({
    clickhouseUrl: engine.url,
    completeUntilMs: async () => {
      await whileAsked();
      return Date.now();
    },
  });
  await store({ strings: { plan: 'pro' } });
  whileAsked = () => store({ ints: { plan: 7n } });
  const { result } = await service.insights(project).query({
    spec: {
      insightType: InsightType.SEGMENTATION,
      events: [{}],
      breakdowns: [{ property: 'plan' }],
    },
    timeRange: { from: timestampFromMs(occurTimeMs), to: timestampFromMs(occurTimeMs + 1) },
  });
  const series = result.case === 'segmentation' ? result.value.series : [];
  expect(series.map(({ breakdown }) => breakdown)).toEqual([{ plan: '7' }, { plan: 'pro' }]);
});
