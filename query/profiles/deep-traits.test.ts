// Traits that were stored before Identify bounded their depth: every answer with traits can be read by readers that
// take a hundred messages in one another, as protobuf-es does since 2.17, and says where something was cut.

import { type DescMessage, type JsonValue, type Message, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fieldFault } from '../../platform/http/bodies/message-fields.ts';
import { maxTraitLevels } from '../../platform/limits.ts';
import { FilterOperator } from '../../proto/gen/common/v1/filter_pb.js';
import { GetProfileStatsResponseSchema } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import {
  InsightType,
  QueryResponseSchema,
  TopKQuery_Dimension,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import {
  GetByExternalIdResponseSchema,
  GetResponseSchema,
  ListResponseSchema,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';
import { cutLevels, cutNote } from '../identity/cut-levels.ts';

const engine = useEngine();
let service: ReadService;

const projectId = 'prj_deep';
const occurTimeMs = Date.UTC(2026, 9, 1, 12);

/** So many objects and lists, one in the other. */
function nested(levels: number, inner: JsonValue): JsonValue {
  let value = inner;
  for (let level = levels; level > 0; level--) value = level % 2 === 0 ? { a: value } : [value, 1];
  return value;
}

const deepest = nested(maxTraitLevels, 'seen');
const cut = nested(maxTraitLevels, cutNote);

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
  await storeProfiles(service.clickhouse, [
    { projectId, distinctId: 'shallow', traits: { plan: 'pro', k: deepest } },
    // The deepest that a body of JSON could bring.
    { projectId, distinctId: 'deep', traits: { plan: 'pro', k: nested(98, 'unseen') } },
  ]);
  await storeRows(service.clickhouse, [
    storedRow({ projectId, distinctId: 'shallow', occurTimeMs }),
    storedRow({ projectId, distinctId: 'deep', occurTimeMs }),
  ]);
});
afterAll(() => service?.stop());

/** That no reader refuses the answer for its depth. */
function expectReadable<M extends Message>(desc: DescMessage & { typeName: M['$typeName'] }, m: M) {
  expect(fieldFault(desc, toBinary(desc, m), 1_000)).toBe(undefined);
}

it('each method with traits answers them to the 20th level, and a note in place of the rest', async () => {
  const profiles = service.profiles(projectId);
  const traits = { deep: { plan: 'pro', k: cut }, shallow: { plan: 'pro', k: deepest } };
  const pages = [];
  for await (const page of profiles.list({})) pages.push(page);
  for (const page of pages) expectReadable(ListResponseSchema, page);
  const listed = pages.flatMap((page) => page.profiles);
  expect(Object.fromEntries(listed.map((one) => [one.externalId, one.properties]))).toEqual(traits);

  for (const { externalId = '', id, properties } of listed) {
    const got = await profiles.get({ id });
    expect(got.profile?.properties).toEqual(properties);
    expectReadable(GetResponseSchema, got);
    const named = await profiles.getByExternalId({ externalId });
    expect(named.profile?.properties).toEqual(properties);
    expectReadable(GetByExternalIdResponseSchema, named);
    const stats = await service.activity(projectId).getProfileStats({ distinctId: externalId });
    expect(stats.properties).toEqual(properties);
    expectReadable(GetProfileStatsResponseSchema, stats);
  }

  const answer = await service.insights(projectId).query({
    spec: { insightType: InsightType.TOP_K, topK: { dimension: TopKQuery_Dimension.USER } },
    timeRange: {
      from: timestampFromMs(occurTimeMs - 3_600_000),
      to: timestampFromMs(occurTimeMs + 3_600_000),
    },
  });
  expectReadable(QueryResponseSchema, answer);
  const rows = answer.result.case === 'topK' ? answer.result.value.rows : [];
  expect(
    Object.fromEntries(rows.map(({ profile }) => [profile?.externalId, profile?.properties])),
  ).toEqual(traits);
});

it('in JSON, too', async () => {
  const method = 'shared.profiles.v1.ProfilesService/GetByExternalId';
  const { text } = await service.post(projectId, method, { externalId: 'deep' });
  expect(JSON.parse(text).profile.properties).toEqual({ plan: 'pro', k: cut });
});

it('a filter leads as deep as traits nest, and no deeper', async () => {
  const found = async (levels: number, value: string) => {
    const property = ['k', ...Array(levels).fill('a')].join('.');
    const filters = [{ property, operator: FilterOperator.EQUALS, value }];
    const ids: string[] = [];
    for await (const page of service.profiles(projectId).list({ filterGroups: [{ filters }] }))
      ids.push(...page.profiles.map(({ externalId }) => externalId));
    return ids;
  };
  await storeProfiles(service.clickhouse, [
    { projectId, distinctId: 'path', traits: { k: objects(maxTraitLevels) } },
    { projectId, distinctId: 'deeper path', traits: { k: objects(maxTraitLevels + 1) } },
  ]);
  expect(await found(maxTraitLevels, '1')).toEqual(['path']);
  expect(await found(maxTraitLevels + 1, '1')).toEqual([]);
});

function objects(levels: number): JsonValue {
  return levels === 0 ? 1 : { a: objects(levels - 1) };
}

it('cuts at brackets of values, not of texts, and leaves the rest as it was', () => {
  const open = '['.repeat(maxTraitLevels);
  const close = ']'.repeat(maxTraitLevels);
  const note = JSON.stringify(cutNote);
  for (const [json, expected] of [
    [`${open}{},[[]],"]",{"\\"]}":[1]}${close}`, `${open}${note},${note},"]",${note}${close}`],
    [`${open}"[{\\\\",1${close}`, `${open}"[{\\\\",1${close}`],
    [`"${open}[["`, `"${open}[["`],
    [
      `[${open}${close},{"__proto__":[]}]`,
      `[${open.slice(1)}${note}${close.slice(1)},{"__proto__":[]}]`,
    ],
  ] as const) {
    expect(cutLevels(json)).toBe(expected);
  }
});
