// Lists in every order against a model: profiles of every kind, with ties, without values and with hostile texts, over
// several pages; what a page token stands for; requests that break a rule.

import type { JsonObject } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FilterOperator, PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import {
  type ListResponse,
  type Profile,
  ProfileOrder,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';

const projectId = 'ordered';
const startMs = Date.UTC(2026, 9, 1);
const kinds = ['named', 'anonymous', 'silent', 'merged', 'deleted'] as const;
/** Three pages of those that are shown. */
const persons = 420;
const names = [
  'Ada',
  'ada',
  'Zoë',
  'éclair',
  '',
  '"quoted\\',
  'İstanbul',
  '漢字',
  `${'x'.repeat(150)}a`,
];
const values = [3, 20, -1.5, 1e21, 'ten', 'Ten', true, null, { a: 1 }, ''];

const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
  const people = Array.from({ length: persons }, (_, index) => {
    const kind = kinds[index % kinds.length] ?? 'named';
    return { index, kind, distinctId: `${kind} ${index}` };
  });
  const rows = people.flatMap(({ index, kind, distinctId }) =>
    kind === 'silent'
      ? []
      : Array.from({ length: 1 + (index % 4) }, (_, event) =>
          storedRow({
            projectId,
            distinctId,
            // Many share a moment.
            occurTimeMs: startMs + ((index * 7) % 60) * 60_000 + event * 1_000,
            kind: event % 2 === 0 ? 'page_view' : 'click',
            columns: {
              browser: ['Chrome', 'Firefox', ''][index % 3] ?? '',
              country: ['DE', 'FR', ''][index % 3] ?? '',
              city: index % 2 === 0 ? (['Berlin', 'Paris', ''][index % 3] ?? '') : '',
            },
          }),
        ),
  );
  await storeRows(service.clickhouse, rows.slice(0, 300));
  await storeRows(service.clickhouse, rows.slice(300));
  await storeProfiles(
    service.clickhouse,
    people
      .filter(({ kind }) => kind !== 'anonymous')
      .map(({ index, kind, distinctId }) => {
        const owner = people[index - 3]?.distinctId ?? '';
        const merged = { named: false, owner, root: owner, wasClaimed: true };
        const traits = {
          ...(index % 3 === 0 && { name: names[index % names.length] }),
          ...(index % 2 === 0 && { email: `p${index}@example.com` }),
          ...(index % 4 !== 0 && { t: values[index % values.length] }),
        };
        const known = { deleted: kind === 'deleted', traits };
        return { projectId, distinctId, ...(kind === 'merged' ? merged : known) };
      }),
  );
});
afterAll(async () => {
  await service?.stop();
});

type Request = Parameters<ReturnType<ReadService['profiles']>['list']>[0];

/** Everything that one call streams. */
async function parts(request: Request): Promise<ListResponse[]> {
  const found: ListResponse[] = [];
  for await (const part of service.profiles(projectId).list(request)) found.push(part);
  return found;
}

/** Page by page, each by a call of its own. */
async function everybody(request: Request): Promise<Profile[]> {
  const profiles: Profile[] = [];
  let pageToken = '';
  do {
    const [page, ...more] = await parts({ ...request, pageToken });
    expect(more).toEqual([]);
    expect(page?.profiles.length).toBeLessThanOrEqual(100);
    profiles.push(...(page?.profiles ?? []));
    pageToken = page?.nextPageToken ?? '';
  } while (pageToken !== '');
  return profiles;
}

/** The engine folds letter by letter, as JavaScript does but for a final sigma. */
const folded = (text: string): string => [...text].slice(0, 100).join('').toLowerCase();
/** Bytes compare as code points do. */
const compareTexts = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b));

type Value = number | string | undefined;
const traitOf = (traits: JsonObject | undefined): Value => {
  const value = traits?.['t'];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'number') return value;
  return folded(typeof value === 'string' ? value : JSON.stringify(value));
};
const nameOf = ({ properties, externalId }: Profile): Value => {
  const texts = ['name', 'displayName', 'display_name', 'email'].map((key) => properties?.[key]);
  const name = [...texts, externalId].find((text) => typeof text === 'string' && text !== '');
  return typeof name === 'string' ? folded(name) : undefined;
};
const joined = (...fields: (string | undefined)[]): Value => {
  const text = fields.map((field) => field ?? '').join('\n');
  return text.trim() === '' ? undefined : folded(text);
};
const moment = (at: Parameters<typeof timestampMs>[0] | undefined): Value =>
  at === undefined ? undefined : timestampMs(at);

const orders: [keyof typeof ProfileOrder, (profile: Profile) => Value][] = [
  ['LAST_SEEN', ({ activity }) => moment(activity?.lastSeen)],
  ['FIRST_SEEN', ({ activity }) => moment(activity?.firstSeen)],
  ['TOTAL_EVENTS', ({ activity }) => Number(activity?.totalEvents)],
  ['PAGEVIEWS', ({ activity }) => Number(activity?.pageviews)],
  ['SESSIONS', ({ activity }) => Number(activity?.sessions)],
  ['NAME', nameOf],
  ['PLACE', ({ activity }) => joined(activity?.city || activity?.region, activity?.country)],
  [
    'DEVICE',
    ({ activity }) =>
      joined(activity?.browser, activity?.browserVersion, activity?.os, activity?.device),
  ],
  ['TRAIT', ({ properties }) => traitOf(properties)],
];

function compare(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return typeof a === 'number' ? -1 : 1;
}

/** Those without a value last, either way; ties by id. */
function sorted(profiles: readonly Profile[], valueIn: (one: Profile) => Value, way: 1 | -1) {
  return [...profiles].sort((a, b) => {
    const [left, right] = [valueIn(a), valueIn(b)];
    if ((left === undefined) !== (right === undefined)) return left === undefined ? 1 : -1;
    const between = left === undefined || right === undefined ? 0 : compare(left, right);
    return way * (between || compareTexts(a.id, b.id));
  });
}

const ids = (profiles: readonly Profile[]): string[] => profiles.map(({ id }) => id);

describe.each(orders)('in the order %s', (order, valueIn) => {
  const request = { orderBy: ProfileOrder[order], orderTrait: order === 'TRAIT' ? 't' : '' };

  it.each([
    [true, 1],
    [false, -1],
  ] as const)(
    'ascending: %s, everybody comes once, as in the usual order',
    async (ascending, way) => {
      const usual = (await parts({})).flatMap(({ profiles }) => profiles);
      expect(usual.length).toBeGreaterThan(200);
      const found = await everybody({ ...request, ascending });
      const expected = sorted(usual, valueIn, way);
      expect(found.map((one) => [valueIn(one), one.id])).toEqual(
        expected.map((one) => [valueIn(one), one.id]),
      );
      // Each is the same profile, whatever the order.
      const byId = new Map(usual.map((one) => [one.id, one]));
      for (const one of found) expect(one).toEqual(byId.get(one.id));
    },
  );

  it('filters hold', async () => {
    const filters = [
      { property: 'email', operator: FilterOperator.IS_SET },
      {
        property: '$browser',
        operator: FilterOperator.EQUALS,
        value: 'Chrome',
        source: PropertySource.AUTO,
      },
    ];
    const filtered = { filterGroups: [{ filters }] };
    const usual = (await parts(filtered)).flatMap(({ profiles }) => profiles);
    expect(usual.length).toBeGreaterThan(10);
    expect(ids(await everybody({ ...request, ...filtered }))).toEqual(
      ids(sorted(usual, valueIn, -1)),
    );
  });
});

it('a page of large profiles ends early, and the next one goes on', async () => {
  const large = 'large';
  const traits = { text: 'x'.repeat(60_000) };
  const people = Array.from({ length: 90 }, (_, index) => ({
    projectId: large,
    distinctId: `p${index}`,
    traits,
  }));
  await storeProfiles(service.clickhouse, people);
  const found: string[] = [];
  let [pageToken, pages] = ['', 0];
  do {
    const request = { orderBy: ProfileOrder.NAME, ascending: true, pageToken };
    for await (const page of service.profiles(large).list(request)) {
      found.push(...page.profiles.map(({ externalId }) => externalId));
      pageToken = page.nextPageToken ?? '';
    }
    pages++;
  } while (pageToken !== '');
  expect(found).toEqual(people.map(({ distinctId }) => distinctId).sort());
  expect(pages).toBeGreaterThan(3);
});

it('a project without profiles is one empty page', async () => {
  const pages: ListResponse[] = [];
  const request = { orderBy: ProfileOrder.LAST_SEEN };
  for await (const page of service.profiles('nobody').list(request)) pages.push(page);
  expect(pages).toMatchObject([{ profiles: [], nextPageToken: '' }]);
});

it('a profile that changes its place between two pages moves nobody else', async () => {
  const moving = 'moving';
  const at = (distinctId: string, occurTimeMs: number) =>
    storedRow({ projectId: moving, distinctId, occurTimeMs });
  const rows = Array.from({ length: 150 }, (_, index) => at(`p${index}`, startMs + index * 1_000));
  await storeRows(service.clickhouse, rows);
  const list = async (pageToken = '') => {
    const request = { orderBy: ProfileOrder.LAST_SEEN, pageToken };
    for await (const page of service.profiles(moving).list(request)) return page;
    throw new Error('an answer without a page');
  };
  const first = await list();
  expect(first.profiles).toHaveLength(100);
  // Of the last page, to the front; and one who is new.
  await storeRows(service.clickhouse, [at('p0', startMs + 900_000), at('new', startMs + 901_000)]);
  const second = await list(first.nextPageToken);
  const seconds = second.profiles.map(({ activity }) => moment(activity?.lastSeen));
  expect(seconds).toEqual(Array.from({ length: 49 }, (_, index) => startMs + (49 - index) * 1_000));
  expect(second.nextPageToken).toBe('');
});

const badToken = 'pageToken: must be a nextPageToken answered to the same filters and order';
const refused: [string, Request, string][] = [
  ['a direction without an order', { ascending: true }, 'ascending: is taken with orderBy only'],
  [
    'a trait without its order',
    { orderBy: ProfileOrder.NAME, orderTrait: 't' },
    'orderTrait: is taken with PROFILE_ORDER_TRAIT only',
  ],
  ['no trait', { orderBy: ProfileOrder.TRAIT }, 'orderTrait: is required'],
  [
    'a trait that is too long',
    { orderBy: ProfileOrder.TRAIT, orderTrait: 'x'.repeat(256) },
    'orderTrait: takes at most 255 code points',
  ],
  ['no token', { orderBy: ProfileOrder.NAME, pageToken: 'x' }, badToken],
];
it.each(refused)('refuses %s', async (_, request, message) => {
  await expect(parts(request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: message,
  });
});

it('a token of one order is none of another, or of the other direction', async () => {
  const [page] = await parts({ orderBy: ProfileOrder.LAST_SEEN });
  const pageToken = page?.nextPageToken ?? '';
  const others: Request[] = [
    {},
    { orderBy: ProfileOrder.FIRST_SEEN },
    { orderBy: ProfileOrder.LAST_SEEN, ascending: true },
  ];
  for (const request of others) {
    await expect(parts({ ...request, pageToken })).rejects.toMatchObject({ rawMessage: badToken });
  }
});
