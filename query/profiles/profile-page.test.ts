// Pages of a list against a model: more profiles than the first statement looks at, of every kind, in an order that
// their ids do not tell, with events before and after each other's.

import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  FilterOperator,
  LogicalOperator,
  PropertySource,
} from '../../proto/gen/common/v1/filter_pb.js';
import type { ListResponse } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';

const projectId = 'many';
const startMs = Date.UTC(2026, 9, 1);
/** Shares no factor with the prime below, so that each person has their own moment. */
const persons = 1_300;
const kinds = ['named', 'anonymous', 'silent', 'merged', 'deleted'] as const;

interface Person {
  index: number;
  kind: (typeof kinds)[number];
  distinctId: string;
  /** In another order than the indexes. */
  createTimeMs: number;
  plan: string;
  isSeenOnce: boolean;
  /** The browser of the last event. */
  browser: string;
}

const people = Array.from({ length: persons }, (_, index): Person => {
  const kind = kinds[index % kinds.length] ?? 'named';
  const isSeenOnce = kind === 'anonymous' && index % 2 === 0;
  const latest = index % 100 === 1 ? 'Rare' : (['Chrome', 'Firefox', 'Safari'][index % 3] ?? '');
  return {
    index,
    kind,
    distinctId: `${kind} ${index}`,
    createTimeMs: startMs + ((index * 7_919) % persons) * 1_000,
    plan: index % 4 === 0 ? 'pro' : 'free',
    isSeenOnce,
    browser: kind === 'silent' ? '' : isSeenOnce ? 'First' : latest,
  };
});

/** A profile in a list. */
interface Shown {
  createTimeMs: number;
  externalId: string;
  plan: string | undefined;
  browser: string;
}

const shown = people
  .flatMap((person): Shown[] => {
    const { kind, createTimeMs, distinctId, plan } = person;
    if (kind === 'merged' || kind === 'deleted') return [];
    if (kind === 'anonymous') return [{ ...person, externalId: '', plan: undefined }];
    // The person merged into this one has the later event.
    const latest = kind === 'named' ? (people[person.index + 3] ?? person) : person;
    return [{ createTimeMs, externalId: distinctId, plan, browser: latest.browser }];
  })
  .sort((a, b) => b.createTimeMs - a.createTimeMs);

const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
  await service.clickhouse.command({ query: 'SYSTEM STOP MERGES profile_listing' });
  const seen = people.filter(({ kind }) => kind !== 'silent');
  const first = seen.map(({ distinctId, createTimeMs }) =>
    storedRow({
      projectId,
      distinctId,
      occurTimeMs: createTimeMs,
      receiveTimeMs: createTimeMs,
      columns: { browser: 'First' },
    }),
  );
  const later = seen
    .filter(({ isSeenOnce }) => !isSeenOnce)
    .map(({ distinctId, index, browser }) => {
      const occurTimeMs = startMs + 10_000_000 + index;
      return storedRow({ projectId, distinctId, occurTimeMs, columns: { browser } });
    });
  // Later events are stored first: a read must not rely on the order of inserts.
  await storeRows(service.clickhouse, later);
  await storeRows(service.clickhouse, first);
  await storeProfiles(
    service.clickhouse,
    people
      .filter(({ kind }) => kind !== 'anonymous')
      .map(({ kind, distinctId, index, createTimeMs, plan }) => {
        const owner = people[index - 3]?.distinctId ?? '';
        const merged = { named: false, owner, root: owner, wasClaimed: true };
        const known = { deleted: kind === 'deleted', createTimeMs, traits: { plan } };
        return { projectId, distinctId, ...(kind === 'merged' ? merged : known) };
      }),
  );
});
afterAll(async () => {
  await service?.stop();
});

type Request = Parameters<ReturnType<ReadService['profiles']>['list']>[0];

async function firstPage(request: Request): Promise<ListResponse> {
  for await (const page of service.profiles(projectId).list(request)) return page;
  throw new Error('an answer without a page');
}

function placesOf(profiles: readonly ListResponse['profiles'][number][]): string[] {
  return profiles.map(({ createTime, externalId }) => {
    const { seconds = 0n, nanos = 0 } = createTime ?? {};
    return `${Number(seconds) * 1_000 + nanos / 1_000_000} ${externalId}`;
  });
}

const { EQUALS, NOT_EQUALS, IS_SET, IS_NOT_SET } = FilterOperator;
const plan = (operator: FilterOperator, value = '') => ({ property: 'plan', operator, value });
const browser = (operator: FilterOperator, value = '') => {
  return { property: '$browser', operator, value, source: PropertySource.AUTO };
};
const either = { filterGroupsOperator: LogicalOperator.OR };

const lists: [string, Request, (person: Shown) => boolean][] = [
  ['nothing', {}, () => true],
  ['a trait', one(plan(EQUALS, 'pro')), (one) => one.plan === 'pro'],
  ['the lack of a trait', one(plan(IS_NOT_SET)), (one) => one.plan === undefined],
  ['a trait that is another', one(plan(NOT_EQUALS, 'pro')), (one) => one.plan !== 'pro'],
  ['a browser that most have', one(browser(IS_SET)), (one) => one.browser !== ''],
  ['no browser', one(browser(IS_NOT_SET)), (one) => one.browser === ''],
  ['a browser that few have', one(browser(EQUALS, 'Rare')), (one) => one.browser === 'Rare'],
  ['a browser that nobody has', one(browser(EQUALS, 'Nobody')), () => false],
  [
    'a trait and a browser',
    one(plan(EQUALS, 'pro'), browser(EQUALS, 'Chrome')),
    (one) => one.plan === 'pro' && one.browser === 'Chrome',
  ],
  [
    'a trait or a browser',
    {
      filterGroups: [...groups(plan(EQUALS, 'pro')), ...groups(browser(EQUALS, 'Rare'))],
      ...either,
    },
    (one) => one.plan === 'pro' || one.browser === 'Rare',
  ],
  [
    'one of two browsers',
    {
      filterGroups: [
        ...groups(browser(EQUALS, 'Chrome')),
        ...groups(browser(EQUALS, 'Safari'), browser(IS_SET)),
      ],
      ...either,
    },
    (one) => one.browser === 'Chrome' || one.browser === 'Safari',
  ],
];

function one(...filters: ReturnType<typeof plan>[]): Request {
  return { filterGroups: groups(...filters) };
}

function groups(...filters: ReturnType<typeof plan>[]) {
  return [{ filters }];
}

it.each(lists)('filters by %s', async (_, request, isMeant) => {
  const expected = placesOfModel(shown.filter(isMeant));
  const streamed: string[] = [];
  for await (const page of service.profiles(projectId).list(request)) {
    streamed.push(...placesOf(page.profiles));
  }
  expect(streamed).toEqual(expected);

  const paged: string[] = [];
  for (let pageToken = ''; ; ) {
    const page = await firstPage({ ...request, pageToken });
    paged.push(...placesOf(page.profiles));
    pageToken = page.nextPageToken ?? '';
    if (pageToken === '') break;
    expect(page.profiles.length).toBe(100);
  }
  expect(paged).toEqual(expected);
});

function placesOfModel(persons: readonly Shown[]): string[] {
  return persons.map(({ createTimeMs, externalId }) => `${createTimeMs} ${externalId}`);
}
