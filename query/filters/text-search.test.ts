// A part of a text is found whatever the case of either, in every list, picker and question alike.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { foldCase } from '../../platform/filters/fold-case.ts';
import { FilterOperator } from '../../proto/gen/common/v1/filter_pb.js';
import { InsightType } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';

const engine = useEngine();
const projectId = 'prj_folded';
const dayMs = Date.UTC(2026, 9, 10);
const texts = ['İstanbul', 'ISTANBUL', 'ıstanbul', 'straße', 'STRASSE', 'ﬁne', 'ὈΔΥΣΣΕΎΣ', 'a'];
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    clock: { nowMs: () => dayMs + 86_400_000 },
  });
  await storeRows(
    service.clickhouse,
    texts.map((city) =>
      storedRow({ projectId, distinctId: city, occurTimeMs: dayMs, strings: { city } }),
    ),
  );
  await storeProfiles(
    service.clickhouse,
    texts.map((city) => ({ projectId, distinctId: city, externalId: city, traits: { city } })),
  );
});
afterAll(() => service.stop());

const range = { from: timestampFromMs(dayMs), to: timestampFromMs(dayMs + 86_400_000) };

/** Of each way to look for it, those whose text holds the part, sorted. */
async function found(part: string): Promise<string[][]> {
  const filter = { property: 'city', operator: FilterOperator.CONTAINS, value: part };
  const { events } = await service.activity(projectId).list({ filters: [filter] });
  const profiles: string[] = [];
  for await (const page of service
    .profiles(projectId)
    .list({ filterGroups: [{ filters: [filter] }] })) {
    profiles.push(...page.profiles.map(({ externalId }) => externalId));
  }
  const { result } = await service.insights(projectId).query({
    spec: {
      insightType: InsightType.SEGMENTATION,
      events: [{ event: { filters: [filter] } }],
      breakdowns: [{ property: 'city' }],
    },
    timeRange: range,
  });
  const groups = result.case === 'segmentation' ? result.value.series : [];
  const { values } = await service
    .insights(projectId)
    .getPropertyValues({ propertyKey: 'city', prefix: part, timeRange: range });
  return [
    events.map(({ distinctId }) => distinctId),
    profiles,
    groups.map(({ breakdown }) => breakdown['city'] ?? ''),
    values,
  ].map((list) => list.sort());
}

it.each([
  ['istanbul', ['ISTANBUL', 'İstanbul']],
  ['İSTANBUL', ['ISTANBUL', 'İstanbul']],
  ['ıst', ['ıstanbul']],
  ['strasse', ['STRASSE', 'straße']],
  ['Straß', ['STRASSE', 'straße']],
  ['stras', ['STRASSE', 'straße']],
  ['FIN', ['ﬁne']],
  ['ὀδυσσεύς', ['ὈΔΥΣΣΕΎΣ']],
])('%s is found in texts of any case', async (part, wanted) => {
  const sorted = [...wanted].sort();
  expect(await found(part)).toEqual([sorted, sorted, sorted, sorted]);
  expect(texts.filter((text) => foldCase(text).includes(foldCase(part))).sort()).toEqual(sorted);
});

it('a part is as long as it is when it is folded', async () => {
  const filter = { property: 'city', operator: FilterOperator.CONTAINS, value: 'ß'.repeat(129) };
  await expect(service.activity(projectId).list({ filters: [filter] })).rejects.toThrow(
    'filters[0].value: takes at most 256 code points, with ß as ss and the like',
  );
});
