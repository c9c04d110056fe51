// The longest questions that the rules of each field allow: each is answered, or refused with what to ask less of.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FilterOperator, PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import {
  AggregationType,
  Granularity,
  InsightType,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';

const engine = useEngine();
const project = randomUUID();
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
});
afterAll(() => service.stop());

const seriesOf = (count: number, aggregation: AggregationType) =>
  Array.from({ length: count }, () => ({ aggregation }));

async function refusalOf(filter: object): Promise<ConnectError> {
  const filters = Array.from({ length: 50 }, (_, index) => ({ property: `p${index}`, ...filter }));
  return service
    .insights(project)
    .query({
      spec: {
        insightType: InsightType.SEGMENTATION,
        events: seriesOf(10, AggregationType.PER_USER_AVG),
        filterGroups: [{ filters }],
      },
      timeRange: { from: timestampFromMs(0), to: timestampFromMs(1e9) },
    })
    .then(() => expect.fail('answered'), ConnectError.from);
}

describe('a question of many series', () => {
  it('is refused where its filters take too many terms', async () => {
    const error = await refusalOf({
      source: PropertySource.CUSTOM,
      operator: FilterOperator.NOT_IN,
      values: ['1', '2.5', 'true', 'false', '', '2026-01-01T00:00:00Z'],
    });
    expect(error.code).toBe(Code.ResourceExhausted);
    expect(error.rawMessage).toContain('fewer events, breakdowns or filters');
  });

  it('names the days of ten years once', async () => {
    const { result } = await service.insights(project).query({
      spec: {
        insightType: InsightType.TRENDS,
        events: seriesOf(10, AggregationType.UNIQUE_USERS),
      },
      timeRange: {
        from: timestampFromMs(Date.UTC(2016, 9, 1, 0, 0, 10)),
        to: timestampFromMs(Date.UTC(2026, 8, 30, 0, 0, 10)),
      },
      timezone: 'Australia/Lord_Howe',
      granularity: Granularity.MONTH,
    });
    expect(result.case === 'trends' && result.value.series).toHaveLength(10);
  });
});
