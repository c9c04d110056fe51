// ActivityService.ListVisits on a real engine: against a plain model of visits, over merges, deletions and events that
// come late, page by page.

import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { durationMs, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../../platform/clock.ts';
import { FilterOperator, PropertySource } from '../../../proto/gen/common/v1/filter_pb.js';
import {
  type Segment,
  SegmentSchema,
} from '../../../proto/gen/dashboard/segments/v1/segments_pb.js';
import type { Visit } from '../../../proto/gen/shared/activity/v1/activity_pb.js';
import { InsightType, SessionMetric } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { createDraw } from '../../../test/harness/insights/random.ts';
import { type ModelVisit, modelVisits } from '../../../test/harness/models/visit-model.ts';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../../test/harness/services/read-service.ts';
import {
  type StoredRow,
  storedRow,
  storeRows,
} from '../../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../../test/harness/tables/stored-profiles.ts';

const startMs = Date.UTC(2026, 9, 1);
const engine = useEngine();
let service: ReadService;
const segments = new Map<string, Segment>();
beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    findSegment: async (_, id) => segments.get(id),
  });
  // Several rows of a session's day stay several.
  for (const table of ['visits', 'events']) {
    await service.clickhouse.command({ query: `SYSTEM STOP MERGES ${table}` });
  }
});
afterAll(() => service?.stop());

type Request = Exclude<Parameters<ReturnType<ReadService['activity']>['listVisits']>[0], undefined>;

const list = (projectId: string, request: Request = {}) =>
  service.activity(projectId).listVisits(request);

/** All pages; runs `between` after each page but the last. */
async function walk(
  projectId: string,
  request: Request = {},
  between: (page: number) => Promise<void> = async () => {},
): Promise<Visit[]> {
  const visits: Visit[] = [];
  let pageToken = '';
  for (let page = 0; page < 1_000; page++) {
    const answer = await list(projectId, { ...request, pageToken });
    visits.push(...answer.visits);
    pageToken = answer.nextPageToken;
    if (pageToken === '') return visits;
    await between(page);
  }
  throw new Error('a walk without end');
}

const range = (fromMs: number, toMs: number) => ({
  timeRange: { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) },
});

/** What the model says of a visit, as the answer says it. */
function expected({ sessionId, startMs: firstMs, events }: ModelVisit) {
  const [first, last] = [events[0], events.at(-1)];
  const views = events.filter(({ kind }) => kind === 'page_view');
  const person = events.findLast(({ cookieless }) => !cookieless) ?? last;
  return {
    sessionId,
    ...{ startMs: firstMs, lengthMs: (last?.occurTimeMs ?? 0) - firstMs },
    ...{ events: events.length, views: views.length },
    entryPage: views[0]?.columns['pathname'] ?? '',
    exitPage: views.at(-1)?.columns['pathname'] ?? '',
    channel: first?.columns['channel'] ?? '',
    country: first?.columns['country'] ?? '',
    browser: first?.columns['browser'] ?? '',
    utmSource: first?.columns['utm_source'] ?? '',
    cookieless: events.some(({ cookieless }) => cookieless),
    bot: events.some(({ bools }) => bools['$bot'] === true),
    distinctId: person?.distinctId,
  };
}

function shown(visit: Visit) {
  const { startTime, duration } = visit;
  if (startTime === undefined || duration === undefined) throw new Error('a visit without time');
  const { sessionId, entryPage, exitPage, channel, country, browser, utmSource } = visit;
  const { cookieless, bot, distinctId } = visit;
  return {
    sessionId,
    ...{ startMs: timestampMs(startTime), lengthMs: durationMs(duration) },
    ...{ events: Number(visit.events), views: Number(visit.views) },
    ...{ entryPage, exitPage, channel, country, browser, utmSource, cookieless, bot, distinctId },
  };
}

describe('drawn sessions', () => {
  const projectId = randomUUID();
  const draw = createDraw(7);
  const text = (...of: string[]): string => draw.pick(of);
  /** From a minute to three days after the event before; some at the same moment. */
  const rows = Array.from({ length: 60 }, () => draw.uuid()).flatMap((sessionId) => {
    let occurTimeMs = startMs + draw.below(9 * dayMs);
    const isCookieless = draw.chance(0.4);
    return Array.from({ length: 1 + draw.below(6) }, () => {
      occurTimeMs += draw.pick([0, 60_000, 1_800_000, 0.9 * dayMs, 2.5 * dayMs]);
      const cookieless = isCookieless && draw.chance(0.9);
      return storedRow({
        ...{ projectId, sessionId, occurTimeMs, cookieless, eventId: draw.uuid() },
        kind: text('page_view', 'page_view', 'scroll', 'purchase'),
        distinctId: cookieless ? `cookieless-${sessionId}` : text('ada', 'bob', 'anon-1'),
        columns: {
          ...{ pathname: text('/', '/a', '/b'), channel: text('direct', 'referral') },
          ...{ country: text('', 'DE'), browser: text('Lynx', 'Firefox') },
          utm_source: text('', '', 'news'),
        },
        bools: draw.chance(0.1) ? { $bot: true } : {},
      });
    });
  });
  const model = modelVisits(rows);

  beforeAll(async () => {
    // In no order, as late events come, and so that days of a session lie in several parts.
    const parts: StoredRow[][] = [[], [], [], []];
    for (const row of rows) draw.pick(parts).push(row);
    for (const part of parts) await storeRows(service.clickhouse, part);
  });

  it('have several visits, several days and equal moments', () => {
    expect(model.length).toBeGreaterThan(60);
    expect(new Set(model.map(({ sessionId }) => sessionId)).size).toBe(60);
    expect(model.some(({ events }) => events.length === 1)).toBe(true);
  });

  it.each([1, 7, 200])('are the visits of the model on pages of %i', async (pageSize) => {
    const visits = await walk(projectId, { pageSize });
    expect(visits.map(shown)).toEqual(model.map(expected));
  });

  it('are those that begin in the range, and as many as questions count', async () => {
    const ranges = Array.from({ length: 12 }, (_, index) => {
      const from = index % 3 === 0 ? startMs + index * dayMs : startMs + draw.below(12 * dayMs);
      return [from, from + (index % 4 === 0 ? dayMs : draw.below(9 * dayMs))] as const;
    });
    const [first] = model.slice(-1);
    const edge = first?.startMs ?? 0;
    for (const [fromMs, toMs] of [...ranges, [edge, edge + 1], [edge + 1, edge + 2]] as const) {
      const within = model.filter((visit) => visit.startMs >= fromMs && visit.startMs < toMs);
      const asked = range(fromMs, toMs);
      const visits = await walk(projectId, { ...asked, pageSize: 5 });
      expect(visits.map(shown)).toEqual(within.map(expected));
      if (fromMs === toMs) continue;
      const session = { metric: SessionMetric.SESSIONS };
      const spec = { insightType: InsightType.SEGMENTATION, session };
      const { result } = await service.insights(projectId).query({ spec, ...asked });
      expect(result.case === 'segmentation' && result.value.total).toBe(within.length);
    }
  });

  it('have the events that List answers for the session and the time of the visit', async () => {
    for (const visit of (await list(projectId, { pageSize: 20 })).visits) {
      const { startMs: fromMs, lengthMs, events } = shown(visit);
      const { sessionId } = visit;
      const asked = { sessionId, ...range(fromMs, fromMs + lengthMs + 1) };
      const listed = await service.activity(projectId).list(asked);
      expect(listed.events).toHaveLength(events);
    }
  });

  it.each([1, 7, 200])(
    'are those of people where bots are left out, on pages of %i',
    async (pageSize) => {
      const people = model.map(expected).filter(({ bot }) => !bot);
      expect(people.length).toBeLessThan(model.length);
      const visits = await walk(projectId, { pageSize, leaveOutBots: true });
      expect(visits.map(shown)).toEqual(people);
    },
  );

  it.each([7, 200])('are those of people in a segment, on pages of %i', async (pageSize) => {
    const everybody = await walk(projectId);
    const profileIds = everybody.flatMap(({ distinctId, profileId }) =>
      distinctId === 'ada' ? [profileId] : [],
    );
    const id = randomUUID();
    const tests = [{ test: { case: 'listed' as const, value: { profileIds } } }];
    segments.set(id, create(SegmentSchema, { id, condition: { groups: [{ tests }] } }));
    const isAda = ({ distinctId }: StoredRow): boolean => distinctId === 'ada';
    // A visit is there where one of its events is of such a person.
    const ofAda = model.filter(({ events }) => events.some(isAda));
    const ofOthers = model.filter(({ events }) => !events.every(isAda));
    expect(ofAda.length).toBeGreaterThan(10);
    expect(ofOthers.length).toBeLessThan(model.length);
    const inIt = await walk(projectId, { pageSize, segments: [id] });
    expect(inIt.map(shown)).toEqual(ofAda.map(expected));
    const outside = await walk(projectId, { pageSize, notInSegments: [id] });
    expect(outside.map(shown)).toEqual(ofOthers.map(expected));
    const asked = range(startMs + dayMs, startMs + 6 * dayMs);
    const within = ofAda.filter(
      (visit) => visit.startMs >= startMs + dayMs && visit.startMs < startMs + 6 * dayMs,
    );
    const found = await walk(projectId, { ...asked, pageSize, segments: [id] });
    expect(found.map(shown)).toEqual(within.map(expected));
  });

  it.each([7, 200])(
    'are those one of whose events meets all filters, on pages of %i',
    async (pageSize) => {
      const equals = (property: string, value: string) => ({
        ...{ property, value, operator: FilterOperator.EQUALS, source: PropertySource.AUTO },
      });
      const filters = [equals('$browser', 'Lynx'), equals('$country', 'DE')];
      const isMet = ({ columns }: StoredRow): boolean =>
        columns['browser'] === 'Lynx' && columns['country'] === 'DE';
      const met = model.filter(({ events }) => events.some(isMet));
      // Some have both, and in no event together; some have it in no event of their first day.
      expect(met.length).toBeGreaterThan(10);
      expect(met.length).toBeLessThan(model.length);
      expect(met.some(({ events: [first] }) => first && !isMet(first))).toBe(true);
      const visits = await walk(projectId, { pageSize, filters });
      expect(visits.map(shown)).toEqual(met.map(expected));
      const people = met.map(expected).filter(({ bot }) => !bot);
      const left = await walk(projectId, { pageSize, filters, leaveOutBots: true });
      expect(left.map(shown)).toEqual(people);
      // As many as a question counts with the same filters.
      const spec = {
        insightType: InsightType.SEGMENTATION,
        session: { metric: SessionMetric.SESSIONS },
        filterGroups: [{ filters }],
      };
      const asked = { spec, ...range(startMs, startMs + 40 * dayMs) };
      const { result } = await service.insights(projectId).query(asked);
      expect(result.case === 'segmentation' && result.value.total).toBe(met.length);
    },
  );

  it('are nobody else’s', async () => {
    expect(await walk(randomUUID())).toEqual([]);
  });
});

it('lead to the root of their profile, and to none that is deleted', async () => {
  const projectId = randomUUID();
  const at = (minute: number, distinctId: string, fields: Partial<StoredRow> = {}): StoredRow =>
    storedRow({ projectId, occurTimeMs: startMs + minute * 60_000, distinctId, ...fields });
  const sessionId = randomUUID();
  const rows = [
    at(6, 'anon-1'),
    at(5, 'gone'),
    at(4, 'anon-gone'),
    at(3, 'nobody-named'),
    at(2, 'cookieless-x', { cookieless: true }),
    at(0, 'anon-2', { sessionId }),
    at(1, 'eve', { sessionId }),
    at(-1, 'long'),
  ];
  await storeRows(service.clickhouse, rows);
  const { events } = await service.activity(projectId).list({});
  const idOf = (distinctId: string): string =>
    events.find((event) => event.distinctId === distinctId)?.profileId ?? '';
  await storeProfiles(service.clickhouse, [
    { projectId, distinctId: 'eve', traits: { name: 7, email: 'eve@example.org' } },
    { projectId, distinctId: 'long', traits: { name: '🦊'.repeat(300) } },
    { projectId, distinctId: 'anon-1', named: false, owner: 'eve', root: 'eve', wasClaimed: true },
    { projectId, distinctId: 'gone', deleted: true, traits: { name: 'Gone' } },
    { projectId, distinctId: 'anon-gone', owner: 'gone', root: 'gone', wasClaimed: true },
  ]);
  const { visits } = await list(projectId);
  expect(visits.map((visit) => [visit.distinctId, visit.profileId, visit.userName])).toEqual([
    ['anon-1', idOf('eve'), 'eve@example.org'],
    ['gone', '', ''],
    ['anon-gone', '', ''],
    ['nobody-named', idOf('nobody-named'), ''],
    ['cookieless-x', '', ''],
    ['eve', idOf('eve'), 'eve@example.org'],
    ['long', idOf('long'), '🦊'.repeat(200)],
  ]);
});

describe('pages', () => {
  it('hold each visit once while others arrive, and reach through years without any', async () => {
    const projectId = randomUUID();
    const at = (day: number): StoredRow =>
      storedRow({ projectId, occurTimeMs: startMs + day * dayMs });
    const before = [0, -1, -2, -400, -401, -3_000, -8_000].map(at);
    await storeRows(service.clickhouse, before);
    const visits = await walk(projectId, { pageSize: 2 }, async (page) => {
      await storeRows(service.clickhouse, [at(1 + page), at(-0.5 - page)]);
    });
    const seen = visits.map(({ sessionId }) => sessionId);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(before.map(({ sessionId }) => sessionId)));
  });

  it('have 50 visits unless the request says otherwise', async () => {
    const projectId = randomUUID();
    const rows = Array.from({ length: 51 }, () => storedRow({ projectId, occurTimeMs: startMs }));
    await storeRows(service.clickhouse, rows);
    const first = await list(projectId);
    expect(first.visits).toHaveLength(50);
    expect((await list(projectId, { pageToken: first.nextPageToken })).visits).toHaveLength(1);
    const other = { ...range(0, startMs + dayMs), pageToken: first.nextPageToken };
    await expect(list(projectId, other)).rejects.toThrow(
      'pageToken: must be a nextPageToken answered to the same conditions',
    );
    await expect(list(randomUUID(), { pageToken: first.nextPageToken })).rejects.toThrow(
      /pageToken/,
    );
  });

  it.each<[string, Request]>([
    ['pageSize: must be from 1 to 200', { pageSize: 201 }],
    ['pageSize: must be from 1 to 200', { pageSize: -1 }],
    ['pageToken: must be a nextPageToken answered to the same conditions', { pageToken: 'x' }],
    ['timeRange: from must not be after to', range(2, 1)],
    ['filters[0].property: is required', { filters: [{ operator: FilterOperator.EQUALS }] }],
    ['segments[0]: must be the id of a segment, a UUID', { segments: ['x'] }],
    ['notInSegments[0]: must be the id of a segment, a UUID', { notInSegments: ['x'] }],
  ])('say %s', async (message, request) => {
    const error = await list(randomUUID(), request).catch(ConnectError.from);
    expect(error).toMatchObject({ code: Code.InvalidArgument, rawMessage: message });
  });
});

it('beyond many of bots come with a later page', async () => {
  const projectId = randomUUID();
  const at = (minute: number, bools: StoredRow['bools']): StoredRow =>
    storedRow({ projectId, occurTimeMs: startMs + minute * 60_000, bools });
  const bots = Array.from({ length: 25 }, (_, minute) => at(1 + minute, { $bot: true }));
  const person = at(0, {});
  await storeRows(service.clickhouse, [...bots, person]);
  const asked = { pageSize: 1, leaveOutBots: true };
  expect((await list(projectId, asked)).visits).toEqual([]);
  const visits = await walk(projectId, asked);
  expect(visits.map(({ sessionId }) => sessionId)).toEqual([person.sessionId]);
});

it('are whole in JSON', async () => {
  const projectId = randomUUID();
  const row = storedRow({ projectId, occurTimeMs: startMs, kind: 'signup', distinctId: 'ada' });
  await storeRows(service.clickhouse, [row]);
  const { text } = await service.post(
    projectId,
    'shared.activity.v1.ActivityService/ListVisits',
    {},
  );
  expect(JSON.parse(text)).toMatchObject({
    visits: [
      {
        ...{ sessionId: row.sessionId, startTime: '2026-10-01T00:00:00Z', duration: '0s' },
        ...{ events: '1', views: '0', distinctId: 'ada' },
      },
    ],
  });
});
