// ProfilesService.List on a real engine: filters, the rules of requests, pages, hostile names. Long lists against a
// model are profile-page.test.ts's and named-pages.test.ts's.

import { Code } from '@connectrpc/connect';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
});
afterAll(async () => {
  await service?.stop();
});

interface Filter {
  property: string;
  operator: FilterOperator;
  value?: string;
  values?: string[];
  source?: PropertySource;
}

type ListInput = Parameters<ReturnType<ReadService['profiles']>['list']>[0];

async function pages(projectId: string, request: ListInput = {}): Promise<ListResponse[]> {
  const found: ListResponse[] = [];
  for await (const page of service.profiles(projectId).list(request)) found.push(page);
  return found;
}

/** The external ids of the profiles that meet the filters, sorted; '' for an anonymous profile. */
async function meeting(projectId: string, ...filters: Filter[]): Promise<string[]> {
  const found = await pages(projectId, { filterGroups: [{ filters }] });
  return found.flatMap(({ profiles }) => profiles.map(({ externalId }) => externalId)).sort();
}

const { EQUALS, NOT_EQUALS, CONTAINS, NOT_CONTAINS, IS_SET, IS_NOT_SET } = FilterOperator;
const { LT, LTE, GT, GTE, IN, NOT_IN, BETWEEN, NOT_BETWEEN } = FilterOperator;

describe('filters on traits', () => {
  // The value of the trait `t` by external id.
  const values: Record<string, unknown> = {
    'a null': null,
    'an empty text': '',
    'text 42': '42',
    'text null': 'null',
    'a text': 'Red SHOE "Ünï" \\ / \u2028',
    '42': 42,
    '0': 0,
    '-7': -7,
    '1.5': 1.5,
    '1e21': 1e21,
    'a tenth': 0.1,
    true: true,
    'an object': { a: 'Shoe', n: 42 },
    'a list': ['shoe', 42],
  };
  const projectId = 'operators';
  const all = Object.keys(values).sort();
  beforeAll(async () => {
    const profiles = Object.entries(values).map(([distinctId, t]) => ({
      projectId,
      distinctId,
      traits: { other: 'x', t },
    }));
    await storeProfiles(service.clickhouse, [...profiles, { projectId, distinctId: 'absent' }]);
    await storeRows(service.clickhouse, [storedRow({ projectId, distinctId: 'anonymous' })]);
  });

  const table: [FilterOperator, { value?: string; values?: string[] }, string[]][] = [
    [EQUALS, { value: '42' }, ['42', 'text 42']],
    [EQUALS, { value: '' }, ['an empty text']],
    [EQUALS, { value: 'null' }, ['text null']],
    [EQUALS, { value: 'true' }, ['true']],
    [EQUALS, { value: '1.50' }, []],
    [EQUALS, { value: '1e+21' }, ['1e21']],
    [EQUALS, { value: 'Red SHOE "Ünï" \\ / \u2028' }, ['a text']],
    [EQUALS, { value: '"42"' }, []],
    [IN, { values: ['0', '-7', 'nobody'] }, ['-7', '0']],
    [CONTAINS, { value: 'shoe' }, ['a list', 'a text', 'an object']],
    [CONTAINS, { value: '"ünï' }, ['a text']],
    [CONTAINS, { value: '4' }, ['42', 'a list', 'an object', 'text 42']],
    [IS_SET, {}, all.filter((id) => id !== 'a null')],
    [LT, { value: '0' }, ['-7']],
    [LTE, { value: '0' }, ['-7', '0']],
    [GT, { value: '1.5' }, ['1e21', '42']],
    [GTE, { value: '1.5' }, ['1.5', '1e21', '42']],
    [GTE, { value: '0.1' }, ['1.5', '1e21', '42', 'a tenth']],
    [BETWEEN, { values: ['0', '1.5'] }, ['0', '1.5', 'a tenth']],
    [BETWEEN, { values: ['5', '1'] }, []],
  ];
  const opposites = new Map([
    [EQUALS, NOT_EQUALS],
    [IN, NOT_IN],
    [CONTAINS, NOT_CONTAINS],
    [IS_SET, IS_NOT_SET],
  ]);
  it.each(table)('operator %s with %j', async (operator, given, expected) => {
    expect(await meeting(projectId, { property: 't', operator, ...given })).toEqual(expected);
    const opposite = opposites.get(operator);
    if (opposite === undefined) return;
    const others = ['', 'absent', ...all].filter((id) => !expected.includes(id)).sort();
    expect(await meeting(projectId, { property: 't', operator: opposite, ...given })).toEqual(
      others,
    );
  });

  it('NOT_BETWEEN holds for numbers outside and for profiles without the trait', async () => {
    const filter = { property: 't', operator: NOT_BETWEEN, values: ['0', '42'] };
    expect(await meeting(projectId, filter)).toEqual(['', '-7', '1e21', 'a null', 'absent']);
  });

  it('dots lead into objects, unless a key itself has the dots', async () => {
    const dotted = 'dotted';
    await storeProfiles(service.clickhouse, [
      { projectId: dotted, distinctId: 'nested', traits: { a: { b: { c: 'x"y' }, n: 1.5 } } },
      { projectId: dotted, distinctId: 'flat', traits: { 'a.b.c': 'x"y', 'a.n': 1.5 } },
      { projectId: dotted, distinctId: 'both', traits: { 'a.b.c': 'z', a: { b: { c: 'x"y' } } } },
    ]);
    const equals = { property: 'a.b.c', operator: EQUALS, value: 'x"y' };
    expect(await meeting(dotted, equals)).toEqual(['flat', 'nested']);
    expect(await meeting(dotted, { property: 'a.n', operator: GT, value: '1' })).toEqual([
      'flat',
      'nested',
    ]);
    expect(await meeting(dotted, { property: 'a.b', operator: IS_SET })).toEqual([
      'both',
      'nested',
    ]);
    expect(
      await meeting(dotted, { property: 'a.b.c', operator: NOT_CONTAINS, value: 'X' }),
    ).toEqual(['both']);
  });

  it('combines filters and groups with both operators', async () => {
    const is = (value: string) => ({ property: 't', operator: EQUALS, value });
    const ask = async (...groups: [LogicalOperator, Filter[]][]) => {
      const filterGroups = groups.map(([operator, filters]) => ({ operator, filters }));
      const found = await pages(projectId, {
        filterGroups,
        filterGroupsOperator: LogicalOperator.OR,
      });
      return found.flatMap(({ profiles }) => profiles.map(({ externalId }) => externalId)).sort();
    };
    const { AND, OR, UNSPECIFIED } = LogicalOperator;
    expect(await ask([OR, [is('0'), is('true')]])).toEqual(['0', 'true']);
    expect(await ask([AND, [is('0'), is('true')]])).toEqual([]);
    expect(await ask([UNSPECIFIED, [is('0'), is('true')]], [AND, [is('-7')]])).toEqual(['-7']);
    expect((await ask([AND, []])).length).toBe(all.length + 2);
    const rule = 'must not be empty where one of several suffices';
    await expect(ask([OR, []])).rejects.toThrow(`filterGroups[0].filters: ${rule}`);
    await expect(ask([AND, [is('0')]], [AND, []])).rejects.toThrow('filterGroups[1].filters: ');
  });
});

it('filters by activity, across merges', async () => {
  const projectId = 'activity';
  const seen = (distinctId: string, columns: Record<string, string>, second: number) =>
    storedRow({ projectId, distinctId, columns, occurTimeMs: Date.UTC(2026, 10, 1, 0, 0, second) });
  await storeRows(service.clickhouse, [
    seen('u1', { browser: 'Firefox', country: 'FR' }, 1),
    seen('anon-1', { browser: 'Chrome', country: 'DE' }, 2),
    seen('loner', { browser: 'Chrome', os: 'Linux' }, 3),
  ]);
  await storeProfiles(service.clickhouse, [
    { projectId, distinctId: 'u1', traits: { plan: 'pro' } },
    { projectId, distinctId: 'anon-1', named: false, owner: 'u1', root: 'u1', wasClaimed: true },
    { projectId, distinctId: 'silent' },
  ]);
  const auto = (property: string, operator: FilterOperator, value = '') => {
    return { property, operator, value, source: PropertySource.AUTO };
  };
  expect(await meeting(projectId, auto('$browser', EQUALS, 'Chrome'))).toEqual(['', 'u1']);
  expect(await meeting(projectId, auto('$browser', EQUALS, 'Firefox'))).toEqual([]);
  expect(await meeting(projectId, auto('$country', IS_SET))).toEqual(['u1']);
  expect(await meeting(projectId, auto('$os', NOT_CONTAINS, 'linux'))).toEqual(['silent', 'u1']);
  expect(await meeting(projectId, auto('$os', GT, '1'))).toEqual([]);
  const plan = { property: 'plan', operator: EQUALS, value: 'pro' };
  expect(await meeting(projectId, auto('$country', EQUALS, 'DE'), plan)).toEqual(['u1']);
  const [page] = await pages(projectId, { filterGroups: [{ filters: [plan] }] });
  expect(page?.profiles[0]?.activity).toMatchObject({ totalEvents: 2n, browser: 'Chrome' });
});

describe('a filter that all profiles or none meet', () => {
  const projectId = 'everybody';
  const startMs = Date.UTC(2026, 9, 1);
  const claimed = { owner: 'named', root: 'named', wasClaimed: true };
  beforeAll(async () => {
    const ids = ['named', 'walk-in', 'merged', 'merged user', 'gone', 'gone walk-in', 'taken back'];
    await storeRows(
      service.clickhouse,
      [...ids, ...Array.from({ length: 250 }, (_, index) => `anonymous ${index}`)].map(
        (distinctId, index) =>
          storedRow({ projectId, distinctId, occurTimeMs: startMs + 1_000 * (index % 90) }),
      ),
    );
    await storeProfiles(service.clickhouse, [
      { projectId, distinctId: 'named', createTimeMs: startMs + 9_500 },
      { projectId, distinctId: 'silent', createTimeMs: startMs + 20_000 },
      { projectId, distinctId: 'merged', named: false, ...claimed },
      { projectId, distinctId: 'merged user', createTimeMs: startMs, ...claimed },
      { projectId, distinctId: 'gone', deleted: true },
      { projectId, distinctId: 'gone walk-in', named: false, deleted: true },
      { projectId, distinctId: 'taken back', named: false, wasClaimed: true },
    ]);
  });
  const filtered = (operator: FilterOperator, property: string, source: PropertySource) =>
    pages(projectId, { filterGroups: [{ filters: [{ property, operator, source }] }] });

  it.each([
    ['a trait', 'none', PropertySource.PROFILE],
    ['the activity', '$city', PropertySource.AUTO],
  ])('on %s answers the pages of no filter, or an empty one', async (_, property, source) => {
    const whole = (await pages(projectId)).map((page) => page.profiles);
    expect(whole.map((page) => page.length)).toEqual([100, 100, 54]);
    const everybody = await filtered(IS_NOT_SET, property, source);
    expect(everybody.map((page) => page.profiles)).toEqual(whole);
    const nobody = await filtered(IS_SET, property, source);
    expect(nobody.map((page) => page.profiles)).toEqual([[]]);

    const token = everybody[0]?.nextPageToken ?? '';
    const late = `late ${property}`;
    await storeRows(service.clickhouse, [storedRow({ projectId, distinctId: late })]);
    const rest = await pages(projectId, {
      pageToken: token,
      filterGroups: [{ filters: [{ property, operator: IS_NOT_SET, source }] }],
    });
    expect(rest.map((page) => page.profiles)).toEqual(whole.slice(1));
    await storeProfiles(service.clickhouse, [
      { projectId, distinctId: late, named: false, deleted: true },
    ]);
  });
});

it('reads 100 a page in one order, and goes on from a token, while profiles appear', async () => {
  const projectId = 'pages';
  const timeMs = Date.UTC(2026, 9, 1);
  const profiles = Array.from({ length: 1_150 }, (_, index) => ({
    projectId,
    distinctId: `user-${index}`,
    // Several of one moment: their ids decide.
    createTimeMs: timeMs + Math.floor(index / 3),
  }));
  await storeProfiles(service.clickhouse, profiles);
  await storeRows(
    service.clickhouse,
    Array.from({ length: 60 }, (_, index) =>
      storedRow({ projectId, distinctId: `anon-${index}`, receiveTimeMs: timeMs + 5 * index }),
    ),
  );
  const whole = await pages(projectId);
  expect(whole.map((page) => page.profiles.length)).toEqual([...Array(12).fill(100), 10]);
  expect(whole.at(-1)?.nextPageToken).toBe('');
  const keys = whole.flatMap((page) => page.profiles.map(placeOf));
  expect(new Set(keys).size).toBe(1_210);
  expect(keys).toEqual([...keys].sort().reverse());

  await storeProfiles(service.clickhouse, [{ projectId, distinctId: 'late' }]);
  for (const at of [0, 4, 11]) {
    const rest = await pages(projectId, { pageToken: whole[at]?.nextPageToken ?? '' });
    expect(rest.flatMap((page) => page.profiles.map(placeOf))).toEqual(keys.slice(100 * (at + 1)));
  }
  const foreign = { pageToken: whole[0]?.nextPageToken ?? '' };
  await expect(pages('other', foreign)).rejects.toMatchObject({ code: Code.InvalidArgument });
});

/** A text for each profile that sorts in the list's order. */
function placeOf(profile: ListResponse['profiles'][number]): string {
  const { seconds = 0n, nanos = 0 } = profile.createTime ?? {};
  return `${seconds}.${String(nanos).padStart(9, '0')} ${profile.id}`;
}

it('answers a project without profiles with one empty page', async () => {
  const found = await pages('nobody');
  expect(found.map(({ profiles, nextPageToken }) => ({ profiles, nextPageToken }))).toEqual([
    { profiles: [], nextPageToken: '' },
  ]);
});

const refused: [string, ListInput, string][] = [
  [
    'a text that is no token',
    { pageToken: 'x' },
    'pageToken: must be a nextPageToken answered to the same filters and order',
  ],
  [
    'no property',
    group({ property: '', operator: IS_SET }),
    'filterGroups[0].filters[0].property: is required',
  ],
  [
    'no operator',
    group({ property: 'a', operator: FilterOperator.UNSPECIFIED }),
    'filterGroups[0].filters[0].operator: is required',
  ],
  [
    'a text for a number',
    group({ property: 'a', operator: GT, value: 'x' }),
    'filterGroups[0].filters[0].value: GT takes a number',
  ],
  [
    'one value for two',
    group({ property: 'a', operator: BETWEEN, values: ['1'] }),
    'filterGroups[0].filters[0].values: BETWEEN takes exactly two',
  ],
  [
    'a value for none',
    group({ property: 'a', operator: IS_SET, value: 'x' }),
    'filterGroups[0].filters[0].value: IS_SET takes none',
  ],
  [
    'event properties',
    group({ property: 'a', operator: IS_SET, source: PropertySource.CUSTOM }),
    'filterGroups[0].filters[0].source: profiles have traits and the source AUTO only',
  ],
  [
    'an unknown activity',
    group({ property: '$url', operator: IS_SET, source: PropertySource.AUTO }),
    'filterGroups[0].filters[0].property: the source AUTO has $browser, $browserVersion, $os, $osVersion, $device, $country, $region, $city, $bot',
  ],
  [
    'too many filters',
    { filterGroups: [{ filters: Array(51).fill({ property: 'a', operator: IS_SET }) }] },
    'filterGroups: takes at most 50 filters together',
  ],
  ['too many groups', { filterGroups: Array(51).fill({}) }, 'filterGroups: takes at most 50'],
  [
    'too many values',
    group({ property: 'a', operator: IN, values: Array(5_000).fill('') }),
    'filterGroups: take at most 1000 values together',
  ],
  [
    'a value that is too long',
    group({ property: 'a', operator: NOT_IN, values: ['a'.repeat(1_025)] }),
    'filterGroups[0].filters[0].values[0]: takes at most 1024 code points',
  ],
  [
    'a part that is too long',
    group({ property: 'a', operator: NOT_CONTAINS, value: 'a'.repeat(257) }),
    'filterGroups[0].filters[0].value: takes at most 256 code points',
  ],
  [
    'too many searches',
    { filterGroups: Array(11).fill({ filters: [{ property: 'a.b', operator: IS_SET }] }) },
    'filterGroups: take at most 10 searches (CONTAINS, NOT_CONTAINS, a path into a trait) together',
  ],
  [
    'a long page token',
    { pageToken: 'A'.repeat(200_000) },
    'pageToken: must be a nextPageToken answered to the same filters and order',
  ],
];
it.each(refused)('refuses %s', async (_, request, message) => {
  await expect(pages('refused', request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: message,
  });
});

function group(filter: Filter): ListInput {
  return { filterGroups: [{ filters: [filter] }] };
}

describe('the same distinct ids in two projects', () => {
  it('are two people each, merged in one project only', async () => {
    const [mine, theirs] = ['mine', 'theirs'];
    const merged = { named: false, owner: 'ann', root: 'ann', wasClaimed: true };
    await storeProfiles(service.clickhouse, [
      ...[mine, theirs].map((projectId) => ({ projectId, distinctId: 'ann' })),
      { projectId: mine, distinctId: 'phone', ...merged },
    ]);
    const rows = (projectId: string, distinctId: string, browser: string, count: number) =>
      Array.from({ length: count }, () =>
        storedRow({ projectId, distinctId, columns: { browser } }),
      );
    await storeRows(service.clickhouse, [
      ...rows(mine, 'ann', 'Firefox', 1),
      ...rows(mine, 'phone', 'Firefox', 2),
      ...rows(theirs, 'ann', 'Chrome', 4),
      ...rows(theirs, 'phone', 'Chrome', 8),
    ]);
    const totals = async (projectId: string, browser?: string): Promise<string[]> => {
      const filters = { property: '$browser', operator: EQUALS, value: browser ?? '' };
      const request =
        browser === undefined
          ? {}
          : { filterGroups: [{ filters: [{ ...filters, source: PropertySource.AUTO }] }] };
      const found = (await pages(projectId, request)).flatMap(({ profiles }) => profiles);
      return found.map(({ externalId, activity }) => `${externalId} ${activity?.totalEvents}`);
    };
    expect(await totals(mine)).toEqual(['ann 3']);
    expect(await totals(mine, 'Firefox')).toEqual(['ann 3']);
    expect(await totals(mine, 'Chrome')).toEqual([]);
    expect((await totals(theirs)).sort()).toEqual([' 8', 'ann 4']);
    expect((await totals(theirs, 'Chrome')).sort()).toEqual([' 8', 'ann 4']);
    expect(await totals(theirs, 'Firefox')).toEqual([]);
  });
});

describe('hostile names and values of traits', () => {
  const pieces = [
    "'",
    '"',
    '\\',
    '`',
    ';',
    '--',
    '/*',
    '{p0:String}',
    '{',
    '}',
    '?',
    '%',
    '\n',
    '\t',
    '.',
    '$',
    'é',
    '😀',
    ' ',
    'a',
    '(',
    ')',
    'NULL',
    "\\'",
    '0x',
    '\u0001',
  ];
  const hostile = fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.join(''));

  it('are only names and values', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, async (name, value, other) => {
        const projectId = `hostile-${run++}`;
        await storeProfiles(service.clickhouse, [
          { projectId, distinctId: `has ${name}`, traits: { [name]: value, [`${name}~`]: other } },
          { projectId, distinctId: 'has not', traits: { [`x${name}`]: value } },
        ]);
        const has = [`has ${name}`];
        const ask = (operator: FilterOperator, given: object = {}) =>
          meeting(projectId, { property: name, operator, ...given });
        expect(await ask(EQUALS, { value })).toEqual(has);
        expect(await ask(NOT_EQUALS, { value })).toEqual(['has not']);
        expect(await ask(EQUALS, { value: `${value}!` })).toEqual([]);
        expect(await ask(IN, { values: [other, value, name] })).toEqual(has);
        expect(await ask(CONTAINS, { value })).toEqual(has);
        expect(await ask(IS_NOT_SET)).toEqual(['has not']);
        const read = await service
          .profiles(projectId)
          .getByExternalId({ externalId: `has ${name}` });
        expect(read.profile?.properties).toEqual({ [name]: value, [`${name}~`]: other });
      }),
      { numRuns: 25 },
    );
  });
});
