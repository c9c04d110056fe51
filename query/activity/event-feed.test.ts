// The feeds, days and totals of users on a real engine, beside the rows that were stored: in binary, and as JSON.

import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../platform/clock.ts';
import { FilterOperator } from '../../proto/gen/common/v1/filter_pb.js';
import type { GetActivityFeedRequestSchema } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { type StoredRow, storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';

const nowMs = Date.UTC(2026, 10, 20, 12);
const projectId = `prj_${randomUUID()}`;
const engine = useEngine();
let service: ReadService;
const row = (fields: Partial<StoredRow>): StoredRow => storedRow({ projectId, ...fields });
const hourMs = 3_600_000;

// Day by day back: anna, who was anon-1 before, and others.
const rows = [
  ...Array.from({ length: 7 }, (_, n) =>
    row({
      distinctId: n % 2 === 0 ? 'anna' : 'anon-1',
      kind: n % 3 === 0 ? 'purchase' : 'page_view',
      occurTimeMs: nowMs - 30 * hourMs * n - 1,
      ints: { amount: BigInt(n) },
      columns: { browser: n === 0 ? 'Lynx' : 'Firefox' },
    }),
  ),
  row({ distinctId: 'bob', kind: 'Click', occurTimeMs: nowMs - 500 * dayMs }),
  row({ distinctId: 'cookieless-x', cookieless: true, occurTimeMs: nowMs - hourMs }),
  row({
    ...{ distinctId: 'typed', kind: 'typed', occurTimeMs: nowMs - 3 * hourMs },
    strings: { text: 'a', $auto: 'b', __proto__x: 'c' },
    ints: { small: -5n, large: 9_007_199_254_740_993n },
    ...{ doubles: { half: 0.5 }, bools: { yes: true }, times: { at: Date.UTC(2026, 0, 2) } },
  }),
];
const annas = rows.filter(({ distinctId }) => ['anna', 'anon-1'].includes(distinctId));

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, clock: { nowMs: () => nowMs } });
  await storeRows(service.clickhouse, rows);
  await storeProfiles(service.clickhouse, [
    { projectId, distinctId: 'anna', traits: { plan: 'pro', nested: { a: [1] } } },
    {
      ...{ projectId, distinctId: 'anon-1', named: false, owner: 'anna', root: 'anna' },
      wasClaimed: true,
    },
    { projectId, distinctId: 'gone', deleted: true },
  ]);
});
afterAll(() => service?.stop());

async function refused(call: Promise<unknown>): Promise<[Code, string]> {
  const error = await call.then(
    () => expect.fail('answered'),
    (cause: unknown) => ConnectError.from(cause),
  );
  return [error.code, error.rawMessage];
}

const newestFirst = (some: readonly StoredRow[]): string[] =>
  some.toSorted((a, b) => b.occurTimeMs - a.occurTimeMs).map(({ eventId }) => eventId);

describe.each(['getActivityFeed', 'getEventExplorer'] as const)('%s', (method) => {
  // The two have requests of one form.
  const ask = (request: MessageInitShape<typeof GetActivityFeedRequestSchema>) => {
    const { $typeName: _, ...form } = request;
    return service.activity(projectId)[method](form);
  };
  const ids = async (request: Parameters<typeof ask>[0]): Promise<string[]> =>
    (await ask(request)).events.map(({ eventId }) => eventId);

  it('has all events, newest first, and those of a user with merged ids', async () => {
    expect(await ids({})).toEqual(newestFirst(rows));
    expect(await ids({ events: [{}] })).toEqual(newestFirst(rows));
    expect(await ids({ distinctId: 'anon-1' })).toEqual(newestFirst(annas));
    const [one] = annas;
    expect(await ids({ sessionId: one?.sessionId ?? '' })).toEqual([one?.eventId]);
  });

  it('selects by range, filters, and any of several kinds with filters', async () => {
    const timeRange = { from: timestampFromMs(nowMs - 4 * hourMs) };
    const newest = rows.filter(({ occurTimeMs }) => occurTimeMs >= nowMs - 4 * hourMs);
    expect(await ids({ timeRange })).toEqual(newestFirst(newest));
    const operator = FilterOperator.GTE;
    const large = { property: 'amount', operator, value: '3' };
    const isLarge = ({ ints }: StoredRow) => (ints['amount'] ?? -1n) >= 3n;
    expect(await ids({ propertyFilters: [large] })).toEqual(newestFirst(rows.filter(isLarge)));
    const events = [{ kind: 'purchase', filters: [large] }, { kind: 'Click' }];
    const wanted = rows.filter(
      (one) => one.kind === 'Click' || (one.kind === 'purchase' && isLarge(one)),
    );
    expect(await ids({ events })).toEqual(newestFirst(wanted));
    const kinds = ['Click', 'purchase'];
    const any = rows.filter(({ kind }) => kinds.includes(kind));
    expect(await ids({ events: [{ kinds }] })).toEqual(newestFirst(any));
  });

  it('goes on page by page, and takes no token of other conditions', async () => {
    const found: string[] = [];
    let pageToken = '';
    do {
      const page = await ask({ distinctId: 'anna', pageSize: 3, pageToken });
      found.push(...page.events.map(({ eventId }) => eventId));
      pageToken = page.nextPageToken;
      if (pageToken !== '') {
        const [code] = await refused(ask({ distinctId: 'bob', pageToken }));
        expect(code).toBe(Code.InvalidArgument);
      }
    } while (pageToken !== '');
    expect(found).toEqual(newestFirst(annas));
  });

  it('answers plain values, the same in JSON', async () => {
    const { events } = await ask({ distinctId: 'typed' });
    const [event] = events;
    const { eventId, sessionId, occurTimeMs } = rows.at(-1) ?? expect.fail();
    const customProperties = {
      ...{ text: 'a', __proto__x: 'c', small: -5, large: '9007199254740993' },
      ...{ half: 0.5, yes: true, at: '2026-01-02T00:00:00.000Z' },
    };
    expect(event).toMatchObject({ eventId, kind: 'typed', distinctId: 'typed', sessionId });
    expect(event?.occurTime && timestampMs(event.occurTime)).toBe(occurTimeMs);
    expect(event?.customProperties).toEqual(customProperties);
    expect(event?.autoProperties).toEqual({ $auto: 'b' });
    const name = `${method[0]?.toUpperCase()}${method.slice(1)}`;
    const path = `shared.activity.v1.ActivityService/${name}`;
    const { text } = await service.post(projectId, path, { distinctId: 'typed' });
    expect(JSON.parse(text)).toEqual({
      events: [
        {
          ...{ eventId, kind: 'typed', distinctId: 'typed', sessionId },
          occurTime: new Date(occurTimeMs).toISOString().replace('.000Z', 'Z'),
          ...{ customProperties, autoProperties: { $auto: 'b' } },
        },
      ],
    });
  });

  it('refuses what breaks a rule, by the names of its own fields', async () => {
    const invalid = Code.InvalidArgument;
    const any = { property: 'a', operator: FilterOperator.IS_SET };
    const cases: [Parameters<typeof ask>[0], string][] = [
      [{ pageSize: 1_001 }, 'pageSize: must be from 1 to 1000'],
      [
        { events: [{ kind: 'k' }, {}] },
        'events[1]: must have a kind or filters where it is one of several',
      ],
      [{ events: Array(51).fill({ kind: 'k' }) }, 'events: takes at most 50'],
      [{ events: [{ kind: '\n\u0004kind' }] }, 'events[0].kind: is not the name of a kind'],
      [{ propertyFilters: [{ property: 'a' }] }, 'propertyFilters[0].operator: is required'],
      [
        { events: [{ filters: [any, { property: '' }] }] },
        'events[0].filters[1].property: is required',
      ],
      [
        { propertyFilters: Array(30).fill(any), events: [{ filters: Array(21).fill(any) }] },
        'propertyFilters: takes at most 50 filters together',
      ],
    ];
    for (const [request, rule] of cases) {
      expect(await refused(ask(request))).toEqual([invalid, rule]);
    }
  });
});

const daysOf = (some: readonly StoredRow[]): string[] => {
  const counts = new Map<string, number>();
  for (const { occurTimeMs } of some) {
    const date = new Date(occurTimeMs).toISOString().slice(0, 10);
    counts.set(date, (counts.get(date) ?? 0) + 1);
  }
  return [...counts].sort().map(([date, count]) => `${date} ${count}`);
};
const texts = (days: readonly { date: string; count: bigint }[]): string[] =>
  days.map(({ date, count }) => `${date} ${count}`);

describe('days', () => {
  const ask = async (
    request: Parameters<ReturnType<ReadService['activity']>['getActivityHeatmap']>[0],
  ) => texts((await service.activity(projectId).getActivityHeatmap(request)).days);

  it('have the number of the events of a user, merged ids included, and of a cookieless visitor', async () => {
    expect(await ask({ distinctId: 'anna' })).toEqual(daysOf(annas));
    expect(await ask({ distinctId: 'anon-1' })).toEqual(daysOf(annas));
    expect(await ask({ distinctId: 'cookieless-x' })).toEqual(['2026-11-20 1']);
    const from = timestampFromMs(nowMs - 2 * dayMs);
    const late = annas.filter(({ occurTimeMs }) => occurTimeMs >= nowMs - 2 * dayMs);
    expect(await ask({ distinctId: 'anna', timeRange: { from } })).toEqual(daysOf(late));
    // Of the last year unless asked for.
    expect(await ask({ distinctId: 'bob' })).toEqual([]);
    const longAgo = timestampFromMs(nowMs - 1_000 * dayMs);
    expect(await ask({ distinctId: 'bob', timeRange: { from: longAgo } })).toHaveLength(1);
  });

  it('are refused without a user, and beyond 1,000', async () => {
    const invalid = Code.InvalidArgument;
    expect(await refused(ask({}))).toEqual([invalid, 'distinctId: must be given']);
    const from = timestampFromMs(nowMs - 1_001 * dayMs);
    expect(await refused(ask({ distinctId: 'a', timeRange: { from } }))).toEqual([
      invalid,
      'timeRange: takes at most 1000 days',
    ]);
  });
});

describe('what is known of a user', () => {
  const ask = (distinctId: string) => service.activity(projectId).getProfileStats({ distinctId });

  it.each(['anna', 'anon-1'])(
    'has totals, days and traits, asked for by %s',
    async (distinctId) => {
      const { stats, heatmap, properties } = await ask(distinctId);
      const times = annas.map(({ occurTimeMs }) => occurTimeMs);
      expect(stats).toMatchObject({
        firstSeen: timestampFromMs(Math.min(...times)),
        lastSeen: timestampFromMs(Math.max(...times)),
        ...{ totalEvents: BigInt(annas.length), browser: 'Lynx' },
      });
      expect(texts(heatmap)).toEqual(daysOf(annas));
      expect(properties).toEqual({ plan: 'pro', nested: { a: [1] } });
    },
  );

  it('is nothing for an id without a profile', async () => {
    for (const distinctId of ['nobody', 'gone', 'cookieless-x']) {
      expect(await refused(ask(distinctId))).toEqual([Code.NotFound, 'no profile has this id']);
    }
  });
});
