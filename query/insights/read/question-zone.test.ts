// The zone in which a question is answered, whichever form it has, and what the answer says of the zone.

import { randomUUID } from 'node:crypto';
import { timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { zones } from '../../../platform/zones/zones.ts';
import {
  Granularity,
  InsightType,
  type QueryResponse,
  SessionMetric,
  TopKQuery_Dimension,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { AskedProject, type AskedSpec } from '../../../test/harness/insights/asked-project.ts';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../../test/harness/services/read-service.ts';
import { exactText } from '../../filters/bindings.ts';

const engine = useEngine();
const projectZone = 'America/Vancouver';
const projectWeekStart = 7;
let service: ReadService;
let project: AskedProject;
/** Each statement with its parameters. */
const statements: string[] = [];
beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    reader: (store) => ({
      select(select, onRow) {
        statements.push(JSON.stringify([select.sql, exactText(select.params)]));
        return store.select(select, onRow);
      },
    }),
    weekStartOf: (projectId) => (projectId === project.id ? projectWeekStart : 1),
    timezoneOf: (projectId) => (projectId === project.id ? projectZone : 'UTC'),
  });
  project = new AskedProject(service);
  // The clock of Vancouver stays 7 hours behind UTC, so that both are events of the 14th there.
  const times = ['2026-11-14T07:30:00Z', '2026-11-15T06:59:00Z'];
  await project.store(times.map((time) => ({ distinctId: 'ada', occurTimeMs: Date.parse(time) })));
});
afterAll(() => service.stop());

const timeRange = {
  from: timestampFromMs(Date.parse('2026-11-13T07:00Z')),
  to: timestampFromMs(Date.parse('2026-11-16T07:00Z')),
};
const ask = (
  spec: AskedSpec,
  fields: { timezone?: string; weekStart?: number; granularity?: Granularity } = {},
) => service.insights(project.id).query({ spec, timeRange, ...fields });

const events = [{ event: { kind: 'page_view' } }];
const trends: AskedSpec = { insightType: InsightType.TRENDS, events };
const ofBuckets: AskedSpec[] = [
  trends,
  { insightType: InsightType.TRENDS, session: { metric: SessionMetric.SESSIONS } },
  { insightType: InsightType.RETENTION, events },
  { insightType: InsightType.LIFECYCLE, events },
];
const others: AskedSpec[] = [
  { insightType: InsightType.STICKINESS, events },
  { insightType: InsightType.SEGMENTATION, events },
  { insightType: InsightType.FUNNEL, events: [...events, ...events] },
  { insightType: InsightType.USER_FLOW, userFlow: {} },
  { insightType: InsightType.TOP_K, topK: { dimension: TopKQuery_Dimension.EVENT_KIND } },
];

const days = ['13', '14', '15'].map((day) => `2026-11-${day}T00:00:00-07:00`);

it.each(ofBuckets)('without a zone a question is answered in the project’s: %o', async (spec) => {
  const { timezone, bucketLabels } = await ask(spec);
  expect({ timezone, bucketLabels }).toEqual({ timezone: projectZone, bucketLabels: days });
});

it.each(others)('an answer without buckets names its zone too: %o', async (spec) => {
  const { timezone, bucketLabels } = await ask(spec);
  expect({ timezone, bucketLabels }).toEqual({ timezone: projectZone, bucketLabels: [] });
});

it('a day is that of the newest rules, and a zone that is named comes first', async () => {
  const values = ({ result }: QueryResponse): (number | undefined)[] =>
    result.case === 'trends' ? (result.value.series[0]?.points ?? []).map((one) => one.value) : [];
  expect(values(await ask(trends))).toEqual([0, 2, 0]);
  const own = await ask(trends, { timezone: 'asia/kolkata' });
  expect(own.timezone).toBe('Asia/Kolkata');
  expect(own.bucketLabels[0]).toBe('2026-11-13T00:00:00+05:30');
  expect(values(own)).toEqual([0, 1, 1, 0]);
});

it.each(ofBuckets)('without a day weeks begin on the project’s: %o', async (spec) => {
  const weeks = async (weekStart?: number) => {
    const asked = { granularity: Granularity.WEEK, ...(weekStart && { weekStart }) };
    const answer = await ask(spec, asked);
    return [answer.weekStart, ...answer.bucketLabels.map((label) => label.slice(0, 10))];
  };
  // The range is Friday the 13th to Sunday the 15th.
  expect(await weeks()).toEqual([7, '2026-11-08', '2026-11-15']);
  expect(await weeks(1)).toEqual([1, '2026-11-09']);
  expect(await weeks(6)).toEqual([6, '2026-11-07', '2026-11-14']);
  await expect(weeks(8)).rejects.toThrow('weekStart: must be 1 (Monday) to 7 (Sunday)');
});

it.each(others)('an answer without buckets names the day that weeks begin on: %o', async (spec) => {
  expect((await ask(spec)).weekStart).toBe(projectWeekStart);
});

it('the persons behind a bucket are those of its week', async () => {
  const point = { spec: trends, granularity: Granularity.WEEK, timezone: 'UTC' };
  const users = (day: string, weekStart?: number) => {
    const bucket = timestampFromMs(Date.parse(`${day}T00:00:00Z`));
    const of = { ...point, bucket, ...(weekStart && { weekStart }) };
    return service.insights(project.id).segmentUsers({ timeRange, point: of });
  };
  expect((await users('2026-11-08')).distinctIds).toEqual(['ada']);
  expect((await users('2026-11-09', 1)).distinctIds).toEqual(['ada']);
  await expect(users('2026-11-09')).rejects.toThrow('point.bucket');
});

it('a project without a zone is answered in UTC', async () => {
  const { timezone } = await service.insights(randomUUID()).query({ spec: trends, timeRange });
  expect(timezone).toBe('UTC');
});

it('says from when on Node and the package tell different times', async () => {
  const { zoneRules } = await ask(trends);
  const { node, package: packageVersion, used } = zones.versions;
  // British Columbia gave up its change of clocks with the rules of 2026.
  if (node < '2026') {
    expect(zoneRules).toMatchObject({ version: used, packageVersion, nodeVersion: node });
    expect(zoneRules?.differFrom && timestampDate(zoneRules.differFrom).toISOString()).toBe(
      '2026-11-01T09:00:00.000Z',
    );
  } else if (node === packageVersion) expect(zoneRules).toBeUndefined();
  expect((await ask(trends, { timezone: 'UTC' })).zoneRules).toBeUndefined();
});

it('no statement asks the engine for a zone', () => {
  expect(statements.length).toBeGreaterThan(10);
  const zoned = /America|Vancouver|Kolkata|timezone\(|toTimeZone|toStartOf|'(?!UTC')[A-Z]\w+\/\w+'/;
  expect(statements.filter((text) => zoned.test(text))).toEqual([]);
});
