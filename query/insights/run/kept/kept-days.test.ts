// When days are kept, found and kept anew: the same questions are asked again with an as_of in the far future, for
// which only rows of events can tell. That every question is answered from them as from rows is the oracle's.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dayMs } from '../../../../platform/clock.ts';
import { FilterOperator } from '../../../../proto/gen/common/v1/filter_pb.js';
import {
  AggregationType,
  Compare,
  Granularity,
  InsightType,
  SessionMetric,
  TopKQuery_Dimension,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import {
  type Answered,
  AskedProject,
  type AskedRange,
  type AskedSpec,
} from '../../../../test/harness/insights/asked-project.ts';
import { useEngine } from '../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../test/harness/services/read-service.ts';
import type { StoredRow } from '../../../../test/harness/tables/stored-events.ts';
import { bucketStart } from '../../read/time-buckets.ts';

const engine = useEngine();
const firstMs = Date.parse('2026-10-20T00:00:00Z');
const days = 9;
const hourMs = 3_600_000;
/** Berlin's clocks go back on the 25th. */
const zones = { berlin: 'Europe/Berlin', kolkata: 'Asia/Kolkata' };
let nowMs = 0;
/** Every event that was accepted before is stored; the moment itself unless set. */
let completeUntilMs: number | undefined;
let refusesWrites = false;
let refusedWrites = 0;
/** What happens once, after profiles of days were kept. */
let afterProfiles: (() => Promise<void>) | undefined;
async function onceProfilesAreKept(): Promise<void> {
  const gate = afterProfiles;
  afterProfiles = undefined;
  await gate?.();
}
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    clock: { nowMs: () => nowMs },
    completeUntilMs: async () => completeUntilMs,
    reader: (store) => ({
      async select(select, onRow) {
        if (refusesWrites && select.sql.startsWith('INSERT')) {
          refusedWrites++;
          throw new Error('no grant');
        }
        await store.select(select, onRow);
        if (select.sql.startsWith('INSERT INTO kept_active_profiles')) await onceProfilesAreKept();
      },
    }),
  });
});
afterAll(() => service.stop());

let project: AskedProject;
beforeEach(async () => {
  project = new AskedProject(service);
  refusedWrites = 0;
  nowMs = firstMs + 20 * dayMs;
  completeUntilMs = nowMs;
  await project.store(Array.from({ length: 300 }, (_, index) => eventOf(index)));
});

/** Many go on after midnight. */
const sessions = Array.from({ length: 110 }, () => randomUUID());

/** Some lie on a UTC day's or a Berlin day's edge. */
function eventOf(index: number): Partial<StoredRow> {
  const day = index % days;
  const msOfDay =
    index % 7 === 0 ? 22 * hourMs : index % 11 === 0 ? 0 : (index * 7_919_000) % dayMs;
  return {
    occurTimeMs: firstMs + day * dayMs + msOfDay,
    distinctId: `visitor-${index % 20}`,
    sessionId: sessions[index % sessions.length] ?? '',
    kind: index % 3 === 0 ? 'purchase' : 'page_view',
    columns: { browser: index % 5 === 0 ? '' : `browser ${index % 4}`, pathname: `/${index % 30}` },
    strings: index % 2 === 0 ? { plan: index % 4 === 0 ? 'pro' : '' } : {},
    doubles: index % 6 === 0 ? {} : { amount: (index % 13) - 5 },
  };
}

const berlin: AskedRange = {
  fromMs: firstMs - 1.75 * hourMs,
  toMs: firstMs + 8 * dayMs + 5 * hourMs,
  timezone: zones.berlin,
  granularity: Granularity.DAY,
};

/** Days of Berlin: the first UTC day has events before the range, and the last one has events after it. */
const cut: AskedRange = {
  ...berlin,
  fromMs: firstMs + 2 * dayMs - 2 * hourMs,
  toMs: firstMs + 9 * dayMs - hourMs,
};

/**
 * Asks for the range and for shorter ones, so that no answer is kept whole: the second question has the days kept, the
 * third finds them. Compares these two with raw rows.
 */
async function expectAsRows(spec: AskedSpec, range: AskedRange, turnMs = 900_000): Promise<void> {
  await project.ask(spec, range);
  for (const turn of [1, 2]) {
    await project.expectAsRows(spec, { ...range, toMs: range.toMs - turn * turnMs });
  }
}

const ending = (hours: number): AskedRange => ({ ...berlin, toMs: berlin.toMs - hours * hourMs });

async function changeTables(query: string): Promise<void> {
  await service.clickhouse.command({ query, query_params: { project: project.id } });
}

async function empty(...tables: readonly string[]): Promise<void> {
  for (const table of tables) await changeTables(`TRUNCATE kept_${table}`);
}

async function listed(what: string): Promise<string[]> {
  const query = `SELECT ${what} FROM kept_days WHERE project_id = {project:String} ORDER BY 1`;
  const format = 'JSONCompactEachRow';
  const result = await service.clickhouse.query({
    query,
    query_params: { project: project.id },
    format,
  });
  return (await result.json<[string]>()).map(([one]) => one);
}

const listedDays = (): Promise<string[]> => listed('DISTINCT toString(day)');

const pageViews = { event: { kind: 'page_view' }, aggregation: AggregationType.TOTAL };
const byBrowser: AskedSpec = {
  insightType: InsightType.TRENDS,
  events: [pageViews],
  breakdowns: [{ property: '$browser' }],
  breakdownLimit: 2,
};
const trends = { insightType: InsightType.TRENDS };
const byPath: AskedSpec = { ...trends, breakdowns: [{ property: '$pathname' }], breakdownLimit: 3 };
const isPro = { property: 'plan', operator: FilterOperator.EQUALS, value: 'pro' };
const ofPlan = { filters: [isPro] };
const whole = { insightType: InsightType.SEGMENTATION };
const ofAmount = (aggregation: AggregationType) => ({
  event: { kind: 'purchase' },
  aggregation,
  aggregationProperty: 'amount',
});
const topOf = (
  dimension: TopKQuery_Dimension,
  property: string,
  omitOthers: boolean,
): AskedSpec => ({
  insightType: InsightType.TOP_K,
  topK: { dimension, property, limit: 3, omitOthers, scope: { kind: 'page_view', filters: [] } },
});

const keptDates = Array.from({ length: 8 }, (_, index) => `2026-10-${20 + index}`);

/** The same series over ranges that end at six moments, asked for once before. */
async function askAtOnce(): Promise<void> {
  await project.ask(byBrowser, berlin);
  const ranges = Array.from({ length: 6 }, (_, turn) => ({
    ...berlin,
    toMs: berlin.toMs - turn * 900_000,
  }));
  await Promise.all(ranges.map((range) => project.ask(byBrowser, range)));
}

describe('kept days', () => {
  const specs: [string, AskedSpec][] = [
    ['a trend by a property', byBrowser],
    ['a total by a property', { ...byBrowser, ...whole }],
    [
      'two properties, one of which is lacking at times',
      { ...byBrowser, breakdowns: [{ property: 'plan' }, { property: '$browser' }] },
    ],
    ['a filter', { ...byBrowser, breakdowns: [], filterGroups: [ofPlan] }],
    ...[AggregationType.SUM, AggregationType.AVG, AggregationType.MIN, AggregationType.MAX].map(
      (type): [string, AskedSpec] => [
        `${AggregationType[type]} by a property`,
        { ...byBrowser, events: [ofAmount(type), pageViews] },
      ],
    ),
    ...[SessionMetric.SESSIONS, SessionMetric.AVG_DURATION, SessionMetric.EXIT].flatMap(
      (metric): [string, AskedSpec][] => [
        [`${SessionMetric[metric]}`, { ...trends, session: { metric } }],
        [`${SessionMetric[metric]} by a property`, { ...byPath, session: { metric } }],
      ],
    ),
    [
      'visits with a filter',
      { ...byPath, session: { metric: SessionMetric.BOUNCE_RATE }, filterGroups: [ofPlan] },
    ],
    ['the greatest values', topOf(TopKQuery_Dimension.PROPERTY, '$pathname', true)],
    ['the greatest values and all others', topOf(TopKQuery_Dimension.PROPERTY, '$pathname', false)],
  ];
  const users = { ...pageViews, aggregation: AggregationType.UNIQUE_USERS };
  const ofUsers: [string, AskedSpec][] = [
    ['users of a kind', { ...trends, events: [users, { ...users, event: { kind: 'purchase' } }] }],
    ['users with a filter', { ...trends, events: [users, users], filterGroups: [ofPlan] }],
    ['users with cookieless ones', { ...trends, events: [users], includeCookieless: true }],
    ['retention', { insightType: InsightType.RETENTION, events: [pageViews] }],
    ['lifecycle', { insightType: InsightType.LIFECYCLE, events: [pageViews] }],
    ['stickiness', { insightType: InsightType.STICKINESS, events: [pageViews] }],
  ];
  const zoned = ['UTC', 'Europe/London', 'America/New_York', 'Pacific/Chatham'];
  it.each(zoned)('have the users of days of %s after merges and deletions', async (timezone) => {
    const spec = { ...trends, events: [users] };
    const cookieless = { kind: 'page_view', distinctId: 'nobody', cookieless: true };
    await project.store([
      { ...eventOf(3), ...cookieless },
      { ...eventOf(5), ...cookieless },
    ]);
    const merged = (one: number, root: number) => ({
      ...{ distinctId: `visitor-${one}`, owner: `visitor-${root}`, root: `visitor-${root}` },
      wasClaimed: true,
    });
    await project.change([merged(1, 2), merged(7, 5)], '1');
    await expectAsRows(spec, { ...berlin, timezone });
    // A day of the zone goes on in this UTC day.
    const late = { occurTimeMs: firstMs + 3 * dayMs + hourMs, kind: 'page_view' };
    await project.store([{ ...late, distinctId: 'late' }]);
    await project.change(
      [merged(3, 4), merged(4, 6), { distinctId: 'visitor-5', deleted: true }],
      '2',
    );
    for (const includeCookieless of [false, true]) {
      await expectAsRows({ ...spec, includeCookieless }, { ...berlin, timezone });
      await expectAsRows({ ...spec, includeCookieless }, { ...cut, timezone }, dayMs);
    }
    expect(await listedDays()).toEqual(expect.arrayContaining(keptDates));
  });

  it.each(zoned)('lack who was there before a day of %s', async (timezone) => {
    // London has the clock of UTC by then.
    const fromMs = bucketStart(Granularity.DAY, { timezone, weekStart: 1 }, firstMs + 6 * dayMs);
    await expectAsRows({ ...trends, events: [users] }, { ...berlin, timezone, fromMs });
    // Another series has the same days kept once more, from a range that begins elsewhere.
    const more = { ...users, event: { kind: 'purchase' } };
    await expectAsRows({ ...trends, events: [users, more] }, { ...berlin, timezone });
  });

  it('of weeks that begin on another day are not found', async () => {
    const weekly = { ...berlin, granularity: Granularity.WEEK };
    const events = [{ event: { kind: 'page_view' } }, users];
    for (const weekStart of [1, 7, 6]) {
      await expectAsRows({ ...trends, events }, { ...weekly, weekStart });
    }
  });

  it('have the users of more days than a number has bits', async () => {
    const spec = { ...trends, events: [users] };
    await expectAsRows(spec, { ...berlin, fromMs: firstMs - 80 * dayMs });
    expect(await listedDays()).toEqual(expect.arrayContaining(keptDates));
  });

  it('are found of many series over most of a year: one look tells all of them', async () => {
    const events = Array.from({ length: 5 }, (_, place) => ({
      ...pageViews,
      event: {
        kind: 'page_view',
        filters: [{ ...isPro, value: place === 0 ? 'pro' : `${place}` }],
      },
    }));
    await expectAsRows({ ...trends, events }, { ...berlin, fromMs: firstMs - 290 * dayMs });
    expect(await listedDays()).toEqual(expect.arrayContaining(keptDates));
  });

  const cutByDays = [
    'two properties, one of which is lacking at times',
    'MAX by a property',
    'AVG_DURATION',
    'EXIT by a property',
    'users of a kind',
    'retention',
    'lifecycle',
  ];
  it.each(cutByDays)('answer %s where days of a zone cut them', async (name) => {
    const spec = new Map([...specs, ...ofUsers]).get(name) ?? expect.fail('no such question');
    await expectAsRows(spec, cut, dayMs);
    expect(await listedDays()).toEqual(keptDates.slice(1));
  });

  it('are whole where the range begins and ends within a day, and has no buckets', async () => {
    await expectAsRows({ ...byBrowser, ...whole }, cut, dayMs);
    expect(await listedDays()).toEqual(keptDates.slice(2, -1));
  });

  it('are read: a profile that is in the table alone counts', async () => {
    const spec: AskedSpec = { ...whole, events: [users] };
    await expectAsRows(spec, berlin);
    await changeTables(`INSERT INTO kept_active_profiles (project_id, series, edition, moment_ms, profile_key)
        SELECT project_id, series, edition, moment_ms, 1
        FROM kept_active_profiles WHERE project_id = {project:String} LIMIT 1`);
    const asked = ending(1);
    const counted = ({ result }: Answered) => {
      return result.case === 'segmentation' ? (result.value.total ?? 0) : 0;
    };
    const raw = counted(await project.askRows(spec, asked));
    expect(counted(await project.ask(spec, asked))).toBe(raw + 1);
  });

  it('are read: the number of profiles of a day of the zone counts', async () => {
    const spec: AskedSpec = { ...trends, events: [users] };
    await expectAsRows(spec, berlin);
    await changeTables(`INSERT INTO kept_cells SELECT * REPLACE (version + 1 AS version, a + 1000 AS a)
        FROM kept_cells WHERE project_id = {project:String} AND day = '2026-10-23'`);
    const asked = ending(1);
    const counted = ({ result }: Answered) => {
      const [series] = result.case === 'trends' ? result.value.series : [];
      return series?.points.map(({ value = 0 }) => value) ?? [];
    };
    const raw = counted(await project.askRows(spec, asked));
    const place = raw.length - 5;
    expect(counted(await project.ask(spec, asked))).toEqual(
      raw.map((value, index) => value + (index === place ? 1000 : 0)),
    );
  });

  it('are read: a cell that is in the table alone counts', async () => {
    await expectAsRows(byBrowser, berlin);
    await changeTables(`INSERT INTO kept_cells (project_id, series, day, moment_ms, groups, version, edition, a, c)
        SELECT project_id, series, day, moment_ms, ['=made up'], version, edition, 1000, 1000
        FROM kept_cells WHERE project_id = {project:String} LIMIT 1`);
    const { result } = await project.ask(byBrowser, ending(1));
    const series = result.case === 'trends' ? result.value.series : [];
    expect(series[0]?.breakdown).toEqual({ $browser: 'made up' });
  });

  it('are read where another process has kept a newer version of the day meanwhile', async () => {
    await expectAsRows(byBrowser, berlin);
    await changeTables(`INSERT INTO kept_cells SELECT * REPLACE (version + 1 AS version, edition + 1 AS edition, a + 1 AS a)
        FROM kept_cells WHERE project_id = {project:String}`);
    await expectAsRows(byBrowser, ending(1));
  });

  it('no longer hold once an event of theirs was stored', async () => {
    await expectAsRows(byBrowser, berlin);
    await project.store([{ occurTimeMs: firstMs + 3 * dayMs, columns: { browser: 'browser 1' } }]);
    // The first question after it would find them all, as those before it did.
    await project.expectAsRows(byBrowser, ending(3));
    await expectAsRows(byBrowser, ending(1));
  });

  it('have an event in all of their tables that was stored while they were kept', async () => {
    const [root = '', claimed = ''] = ['somebody', 'somebody-else'];
    const seen = { occurTimeMs: firstMs + 2 * dayMs + hourMs, kind: 'signup' };
    await project.store([{ ...seen, distinctId: root }]);
    await project.change([{ distinctId: claimed, owner: root, root, wasClaimed: true }], '1');
    afterProfiles = () => project.store([{ ...seen, distinctId: claimed }]);
    await expectAsRows({ ...trends, events: [{ ...users, event: { kind: 'signup' } }] }, berlin);
    expect(afterProfiles).toBeUndefined();
  });

  it('are kept anew where all of them were emptied', async () => {
    const ofUsers: AskedSpec = { ...trends, events: [users] };
    for (const spec of [byBrowser, ofUsers]) await expectAsRows(spec, berlin);
    await empty('days', 'cells', 'active_profiles');
    const next = ending(3);
    for (const spec of [byBrowser, ofUsers]) {
      await project.expectAsRows(spec, next);
    }
    expect(await listedDays()).toEqual(keptDates);
  });

  it('are those of a question that is asked again, and whole ones in the past', async () => {
    nowMs = firstMs + 5 * dayMs + hourMs;
    completeUntilMs = nowMs;
    await project.ask(byBrowser, berlin);
    expect(await listedDays()).toEqual([]);
    await project.ask(byBrowser, ending(1));
    expect(await listedDays()).toEqual(
      Array.from({ length: 5 }, (_, index) => `2026-10-${20 + index}`),
    );
  });

  it('are not kept of a question that is asked first with the period before it', async () => {
    const compared: AskedSpec = { ...byBrowser, compare: Compare.PREVIOUS_PERIOD };
    await project.ask(compared, berlin);
    expect(await listedDays()).toEqual([]);
    await project.ask(compared, ending(1));
    const before = ['2026-10-13', '2026-10-14'];
    expect(await listedDays()).toEqual(expect.arrayContaining([...before, ...keptDates]));
  });

  it('are not kept while an insert may be on its way to them', async () => {
    completeUntilMs = nowMs - 1;
    await expectAsRows(byBrowser, berlin);
    completeUntilMs = undefined;
    await expectAsRows(byBrowser, ending(1));
    expect(await listedDays()).toEqual([]);
    completeUntilMs = nowMs;
    await project.ask(byBrowser, ending(2));
    expect(await listedDays()).toHaveLength(8);
  });

  it('are not kept where persons, traits or an as_of decide', async () => {
    await expectAsRows({ ...byBrowser, events: [users] }, berlin);
    await expectAsRows({ ...byBrowser, breakdowns: [{ property: 'profile.plan' }] }, berlin);
    expect(await listedDays()).toEqual([]);
  });

  it('are not kept where they would have too many cells or too long values', async () => {
    await project.store([{ occurTimeMs: firstMs + dayMs, strings: { plan: 'x'.repeat(300) } }]);
    const byPlan = { ...byBrowser, breakdowns: [{ property: 'plan' }] };
    await expectAsRows(byPlan, berlin);
    await changeTables(`INSERT INTO events (project_id, event_id, kind, occur_time, receive_time, distinct_id, session_id, pathname)
        SELECT {project:String}, generateUUIDv4(), 'page_view', toDateTime64('2026-10-22 10:00:00', 3, 'UTC'), now64(3), 'ada', generateUUIDv4(), toString(number)
        FROM numbers(60000)`);
    await expectAsRows(topOf(TopKQuery_Dimension.PROPERTY, '$pathname', false), berlin);
    expect(await listedDays()).toEqual([]);
  });

  it('are not needed: a question that cannot keep any is answered', async () => {
    refusesWrites = true;
    await expectAsRows(byBrowser, berlin);
    refusesWrites = false;
    expect(await listedDays()).toEqual([]);
  });

  it('that could not be kept are not tried again by who waited for them', async () => {
    refusesWrites = true;
    await askAtOnce();
    refusesWrites = false;
    expect(refusedWrites).toBe(1);
  });

  it('that could not be kept are tried again a minute later', async () => {
    refusesWrites = true;
    await askAtOnce();
    refusesWrites = false;
    nowMs += 59_999;
    await project.ask(byBrowser, ending(3));
    expect(await listedDays()).toEqual([]);
    nowMs += 1;
    await project.ask(byBrowser, ending(2));
    expect(await listedDays()).toEqual(keptDates);
  });

  it('are kept once for all who ask at the same time', async () => {
    await askAtOnce();
    expect(await listed('count()')).toEqual(['8']);
  });
});
